"""Physically consistent parameters: pseudo-inertias, the constrained fit, and its test."""

from robot_id.regression.consistency.fit import Fitter, PhysicalFit

__all__ = ['Fitter', 'PhysicalFit']
