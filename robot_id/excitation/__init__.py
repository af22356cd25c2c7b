"""Exciting motions: families, criteria, limits kept by construction, clearance, search."""
