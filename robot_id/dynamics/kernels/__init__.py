"""Compiled rigid-body primitives, friction and their derivatives."""
