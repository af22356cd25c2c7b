"""What a person does: record, identify, validate, rehearse, study."""

from robot_id.experiment.learning_run import Cycle, LearningRun, run_ilic
from robot_id.experiment.recording import perform, record, recorded

__all__ = ['Cycle', 'LearningRun', 'perform', 'record', 'recorded', 'run_ilic']
