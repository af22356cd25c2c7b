"""Measurements: the Dataset, its readers and writers, filtering and decimation."""

from robot_id.data.dataset import Dataset, Run

__all__ = ['Dataset', 'Run']
