"""The load on a robot's flange, from recordings with and without it."""

from robot_id.tasks.payload.attachment import Attachment
from robot_id.tasks.payload.identify import PayloadRequest, identify_payload, identify_payloads
from robot_id.tasks.payload.result import PayloadIdentification, PayloadResult

__all__ = [
    'Attachment',
    'PayloadIdentification',
    'PayloadRequest',
    'PayloadResult',
    'identify_payload',
    'identify_payloads',
]
