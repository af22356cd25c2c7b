"""Torques of a law while the robot moves are those that a recording of it gets."""

from itertools import pairwise

import numpy as np
import pytest

from robot_id.data.joint_side import pd_torque
from robot_id.data.mapping import Channel
from robot_id.methods.recursive.sample_stream import Block, LawTorque

RATE = 200.0


def block(first, last, fresh=False):
    stamps = np.arange(first, last) * 5_000_000
    t = 1e-9 * stamps[:, None]
    q = np.hstack([np.sin(3 * t), np.cos(2 * t)])
    wanted = np.stack([q + 0.1 * np.cos(t), 0.2 * np.cos(4 * t) + 0 * q, 0 * q])
    return Block(stamps, q, np.empty((len(stamps), 0)), wanted, fresh)


@pytest.mark.parametrize(
    ('delay', 'late'), [(0.0, 0.0), (0.011, 0.0), (0.0, 0.013), (0.011, 0.013)]
)
# The last difference of a block looks back alone.
@pytest.mark.parametrize(('kd', 'near'), [(0.0, 1e-9), (0.5, 0.02)])
def test_block_after_block_gives_the_torques_of_the_whole_recording(delay, late, kd, near):
    law = Channel.model_validate(
        {
            'from': 'pd',
            'kp': [20.0, 30.0],
            'kd': kd,
            'limit': 2.5,
            'delay': delay,
            'reference_delay': late,
        }
    )
    whole = block(0, 300)
    channels = {
        'position': whole.position, 'reference_position': whole.reference[0],
        'reference_velocity': whole.reference[1],
    }  # fmt: skip
    expected = pd_torque(law, 1e-9 * whole.stamps, channels, 'torque')
    assert np.abs(expected).max() == 2.5
    made = LawTorque(law, RATE)
    ends = [0, 40, 41, 42, 100, 300]
    found = [made(block(a, b, fresh=a == 0)) for a, b in pairwise(ends)]
    assert np.abs(np.concatenate([part.torque for part in found]) - expected).max() < near
    # After a gap nothing is taken from before it.
    again = made(block(200, 300, fresh=True)).torque
    assert np.array_equal(again, LawTorque(law, RATE)(block(200, 300, fresh=True)).torque)
