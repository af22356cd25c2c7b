"""A result for other programs: one file per format, one line each in `registry.FORMATS`."""

from robot_id.export.registry import FORMATS, export

__all__ = ['FORMATS', 'export']
