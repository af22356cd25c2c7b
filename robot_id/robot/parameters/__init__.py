"""The parameters of a robot: standard, base, their names, and what the drives add."""
