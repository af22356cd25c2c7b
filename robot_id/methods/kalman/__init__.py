"""Kalman filters: each batch method beside its on-line core."""
