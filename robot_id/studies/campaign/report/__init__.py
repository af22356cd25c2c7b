"""The report of a campaign: tables, pictures, and advice which method to use when."""

from robot_id.studies.campaign.report.advice import advice
from robot_id.studies.campaign.report.columns import to_markdown
from robot_id.studies.campaign.report.page import to_html

__all__ = ['advice', 'to_html', 'to_markdown']
