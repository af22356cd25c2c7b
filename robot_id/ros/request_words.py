"""Errors in the words of a request: who calls a service has no command line."""

from __future__ import annotations

import re

# Of `robot-id`: the field of a request, or the parameter of a node, that says the same.
FIELDS = {
    '--unloaded': 'bag_without',
    '--loaded': 'bag_with',
    '--params': 'json_path',
    '--robot': 'the parameter robot',
    '--mapping': 'the parameter mapping',
    '--method': 'method',
    '--time-limit': 'the parameter time_limit_s',
    '--set': 'the option',
}
# These have no field: what is left is what the sentence says without them.
NOT_HERE = re.compile(
    r'(; |, | )(or |otherwise )*(skip the check with --no-check|raise --memory)'
    r'| \(--no-clearance\)'
    r'| and give it with --validate or --holdout'
)
# A whole command is advice, not a field.
COMMAND = re.compile(r'robot-id [a-z-]+')


def as_request(text: str) -> str:
    """Return an error or a warning in words that a client of the nodes can follow."""
    if COMMAND.search(text):
        return text
    text = NOT_HERE.sub('', text)
    return re.sub(r'(?<![\w-])--[a-z-]+', lambda flag: FIELDS.get(flag[0], flag[0]), text)
