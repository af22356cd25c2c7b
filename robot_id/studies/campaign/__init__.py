"""The campaign: every method under every condition, run by run, on one machine or a cluster."""

from robot_id.studies.campaign.grid import Campaign, read_campaign
from robot_id.studies.campaign.summary import Group, Summary, summarise

__all__ = ['Campaign', 'Group', 'Summary', 'read_campaign', 'summarise']
