"""Motions that excite: families, criteria, limits kept by construction, clearance, search."""
