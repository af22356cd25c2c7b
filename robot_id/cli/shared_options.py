"""Options that several verbs have."""

from __future__ import annotations

import click

robot_option = click.option(
    '--robot', required=True, help='A shipped name, a robot file or a URDF.'
)
data_option = click.option(
    '--data',
    'paths',
    required=True,
    multiple=True,
    metavar='DATA',
    help='rosbag2, csv, mat or npz; repeat it for more runs.',
)
mapping_option = click.option(
    '--mapping', metavar='FILE', help='Mapping of the columns: a shipped name or a YAML file.'
)
