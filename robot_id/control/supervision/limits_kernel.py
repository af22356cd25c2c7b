"""The compiled limits of the supervisor: position, velocity, acceleration, error, work."""

from __future__ import annotations

import math

from robot_id.control.supervision.rows import (
    ACCELERATED,
    ACCELERATED_1,
    ACCELERATION,
    AGREED,
    APPLIED,
    FAR_COUNT,
    FAST_COUNT,
    FINE,
    HARD_COUNT,
    LARGEST_ACCELERATION,
    LARGEST_ERROR,
    LARGEST_SPEED,
    LOWER,
    POSITION,
    POWER,
    SAMPLES,
    SENT,
    SPEED,
    START,
    START_ERROR,
    STOPPING,
    TRACKING,
    UPPER,
    VELOCITY,
    WINDOW_S,
    WORK,
)
from robot_id.control.supervision.soft_start_kernel import say
from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.kernel_cache import njit

# Two samples in a row: a single wrong measurement is no motion.
IN_A_ROW = 2
# Of the largest acceleration: no more enters the filter at once.
GLITCH = 10.0
# Of the largest speed: a joint that sticks creeps, it does not leave.
CREEP = 0.02
# Work that its own torque may do on a joint that leaves its reference: the kinetic energy at this
# share of the largest speed.
LEAVING_SPEED = 0.2


@njit(**INLINED)
def limits(bounds, state, scalars, event, inputs, speed, ddq, filtered, h, j):
    """Position, velocity, acceleration and tracking error of joint j, each twice in a row."""
    q, error = inputs[3, j], abs(inputs[0, j] - inputs[3, j])
    if scalars[SAMPLES] > 2.0:
        # A single wrong position is two large accelerations, which are no motion.
        most = GLITCH * bounds[LARGEST_ACCELERATION, j]
        accelerated = min(max(ddq[j], -most), most)
        state[ACCELERATED_1, j] += filtered * (accelerated - state[ACCELERATED_1, j])
        state[ACCELERATED, j] += filtered * (state[ACCELERATED_1, j] - state[ACCELERATED, j])
    started = state[AGREED, j] != 0.0 or scalars[APPLIED] == 0.0
    largest = bounds[LARGEST_ERROR, j] if started else bounds[START_ERROR, j]
    # A joint that starts may lag behind: its torque is limited. It must not leave.
    creeps = abs(state[SPEED, j]) < CREEP * bounds[LARGEST_SPEED, j]
    lags = not started and (creeps or (inputs[0, j] - q) * state[SPEED, j] >= 0.0)
    if lags:
        largest = bounds[LARGEST_ERROR, j]
    state[FAR_COUNT, j] = state[FAR_COUNT, j] + 1.0 if not error <= largest else 0.0
    if state[FAR_COUNT, j] >= IN_A_ROW:
        return say(event, TRACKING if started else START, j, error, largest)
    if scalars[STOPPING] != 0.0:
        return FINE
    outside = not bounds[LOWER, j] <= q <= bounds[UPPER, j]
    if outside:
        below = q < bounds[LOWER, j]
        return say(event, POSITION, j, q, bounds[LOWER, j] if below else bounds[UPPER, j])
    state[FAST_COUNT, j] = _row(state[FAST_COUNT, j], speed[j], bounds[LARGEST_SPEED, j])
    if abs(state[FAST_COUNT, j]) >= IN_A_ROW and scalars[SAMPLES] > 2.0:
        return say(event, VELOCITY, j, speed[j], bounds[LARGEST_SPEED, j])
    gain = state[ACCELERATED, j]
    state[HARD_COUNT, j] = _row(state[HARD_COUNT, j], gain, bounds[LARGEST_ACCELERATION, j])
    if abs(state[HARD_COUNT, j]) >= IN_A_ROW:
        return say(event, ACCELERATION, j, gain, bounds[LARGEST_ACCELERATION, j])
    return FINE


@njit(**INLINED)
def _row(count, value, bound):
    """Return how many times in a row a value was beyond its bound, with its direction."""
    if abs(value) <= bound:
        return 0.0
    if value > 0.0:
        return count + 1.0 if count > 0.0 else 1.0
    return count - 1.0 if count < 0.0 else -1.0


@njit(**INLINED)
def power(bounds, state, scalars, event, inputs, speed, bias, inertia, h, j):
    """Work that the torque does on joint j while it leaves its reference, over the last window."""
    leaving = speed[j] - inputs[1, j]
    pushing = state[SENT, j] - bias[j]
    state[WORK, j] *= math.exp(-h / scalars[WINDOW_S])
    if leaving * (inputs[0, j] - inputs[3, j]) < 0.0 and pushing * leaving > 0.0:
        state[WORK, j] += h * pushing * leaving
    fast = LEAVING_SPEED * bounds[LARGEST_SPEED, j]
    largest = 0.5 * inertia * fast * fast
    if state[WORK, j] > largest and abs(leaving) > fast:
        return say(event, POWER, j, state[WORK, j], largest)
    return FINE
