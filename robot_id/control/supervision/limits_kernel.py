"""The compiled limits of the supervisor: position, velocity, acceleration, error, work."""

from __future__ import annotations

import math

from robot_id.control.supervision.rows import (
    ACCELERATION,
    AGREED,
    APPLIED,
    CALM_SPEED,
    FAR_COUNT,
    FINE,
    LARGEST_ACCELERATION,
    LARGEST_ERROR,
    LARGEST_SPEED,
    LOWER,
    POSITION,
    POWER,
    SENT,
    SLOW_SPEED,
    SPEED,
    START,
    START_ERROR,
    STOPPING,
    SWINGS,
    TRACKING,
    UPPER,
    VELOCITY,
    WINDOW_S,
    WORK,
)
from robot_id.control.supervision.soft_start_kernel import say
from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.kernel_cache import njit

# Two samples in a row: a single wrong measurement is no error.
IN_A_ROW = 2
# Of the largest speed: a joint that sticks creeps, it does not leave.
CREEP = 0.02
# A robot that is let go moves on for so long, until its brakes have closed [s].
STOP_S = 0.05
# Work that its own torque may do on a joint that leaves its reference: the kinetic energy at this
# share of the largest speed.
LEAVING_SPEED = 0.2


@njit(**INLINED)
def limits(bounds, state, scalars, event, inputs, h, j):
    """
    Position, velocity, acceleration and tracking error of joint j.

    The velocity is the middle one of three. The acceleration is that of its filtered value over
    the window, long enough for the steps of an encoder to be no part of it.
    """
    q, error = inputs[3, j], abs(inputs[0, j] - inputs[3, j])
    started = state[AGREED, j] != 0.0 or scalars[APPLIED] == 0.0
    largest = bounds[LARGEST_ERROR, j] if started else bounds[START_ERROR, j]
    # A joint that starts may lag behind: its torque is limited. It must not leave.
    creeps = abs(state[SPEED, j]) < CREEP * bounds[LARGEST_SPEED, j]
    lags = not started and (creeps or (inputs[0, j] - q) * state[SPEED, j] >= 0.0)
    if lags:
        largest = bounds[LARGEST_ERROR, j]
    elif not started:
        # How far it will leave until its brakes have closed, after the samples that it takes to
        # stop; a swing comes back.
        speed = state[SLOW_SPEED if scalars[SWINGS] != 0.0 else CALM_SPEED, j]
        error += (STOP_S + (IN_A_ROW + 1) * h) * abs(speed - inputs[1, j])
    state[FAR_COUNT, j] = state[FAR_COUNT, j] + 1.0 if not error <= largest else 0.0
    if state[FAR_COUNT, j] >= IN_A_ROW:
        return say(event, TRACKING if started else START, j, error, largest)
    if scalars[STOPPING] != 0.0:
        return FINE
    outside = not bounds[LOWER, j] <= q <= bounds[UPPER, j]
    if outside:
        below = q < bounds[LOWER, j]
        return say(event, POSITION, j, q, bounds[LOWER, j] if below else bounds[UPPER, j])
    speed = state[CALM_SPEED, j]
    if abs(speed) > bounds[LARGEST_SPEED, j]:
        return say(event, VELOCITY, j, speed, bounds[LARGEST_SPEED, j])
    gain = (state[SPEED, j] - state[SLOW_SPEED, j]) / scalars[WINDOW_S]
    if abs(gain) > bounds[LARGEST_ACCELERATION, j]:
        return say(event, ACCELERATION, j, gain, bounds[LARGEST_ACCELERATION, j])
    return FINE


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
