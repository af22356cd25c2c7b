"""What a person does: record, identify, validate, rehearse, study."""

from robot_id.experiment.learning_run import Cycle, LearningRun, run_ilic

__all__ = ['Cycle', 'LearningRun', 'run_ilic']
