"""Measurements: the Dataset, its readers and writers, filtering and decimation."""

from robot_id.data.cleaning.plausibility import check_plausible
from robot_id.data.dataset import Dataset, Run
from robot_id.data.io.reading import load
from robot_id.data.io.writing import save
from robot_id.data.mapping import Mapping, MappingLike, load_mapping, shipped_mappings
from robot_id.data.signals.decimation import Decimator, decimate
from robot_id.data.signals.derivatives import differentiate
from robot_id.data.signals.processing import Processing, resolve

__all__ = [
    'Dataset',
    'Decimator',
    'Mapping',
    'MappingLike',
    'Processing',
    'Run',
    'check_plausible',
    'decimate',
    'differentiate',
    'load',
    'load_mapping',
    'resolve',
    'save',
    'shipped_mappings',
]
