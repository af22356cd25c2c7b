"""The load on a robot's flange, from recordings with and without it."""

from robot_id.experiment.payload.attachment import Attachment
from robot_id.experiment.payload.identify import identify_payload
from robot_id.experiment.payload.result import PayloadResult

__all__ = ['Attachment', 'PayloadResult', 'identify_payload']
