"""What a person does: record, identify, validate, rehearse, study."""

from robot_id.tasks.learning_run import Cycle, LearningRun, run_ilic
from robot_id.tasks.recording import dataset_of, perform, record

__all__ = ['Cycle', 'LearningRun', 'dataset_of', 'perform', 'record', 'run_ilic']
