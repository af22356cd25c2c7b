"""Measurements: the Dataset, its readers and writers, filtering and decimation."""

from robot_id.data.dataset import Dataset, Run
from robot_id.data.processing import Processing, decimate, differentiate, resolve

__all__ = ['Dataset', 'Processing', 'Run', 'decimate', 'differentiate', 'resolve']
