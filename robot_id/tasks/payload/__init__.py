"""The load on a robot's flange, from recordings with and without it."""

from robot_id.tasks.payload.attachment import Attachment
from robot_id.tasks.payload.identify import PayloadRequest, identify_payload, weigh
from robot_id.tasks.payload.result import PayloadResult, Weighing

__all__ = [
    'Attachment',
    'PayloadRequest',
    'PayloadResult',
    'Weighing',
    'identify_payload',
    'weigh',
]
