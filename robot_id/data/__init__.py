"""Measurements: the Dataset, its readers and writers, filtering and decimation."""

from robot_id.data.dataset import Dataset, Run
from robot_id.data.mapping import Mapping, load_mapping, shipped_mappings
from robot_id.data.plausibility import check_plausible
from robot_id.data.processing import (
    Decimator,
    Processing,
    decimate,
    differentiate,
    resolve,
)
from robot_id.data.reading import load
from robot_id.data.writing import save

__all__ = [
    'Dataset',
    'Decimator',
    'Mapping',
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
