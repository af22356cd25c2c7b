"""Filters, derivatives, decimation, and the one way to shift a torque in time."""
