"""The report of an identification: one self-contained HTML file."""

from robot_id.report.html.page import write_report
from robot_id.report.html.provenance import Provenance

__all__ = ['Provenance', 'write_report']
