"""Least squares in all its forms, on triangular factors of [W Y]."""
