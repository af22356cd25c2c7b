"""The compiled start of the supervisor: a small torque at first, and a look at the gravity."""

from __future__ import annotations

import math

import numpy as np

from robot_id.control.supervision.rows import (
    AGREED,
    ALLOWED,
    BEHIND,
    CARRIED,
    FILTER_S,
    FINE,
    FRICTION,
    GG,
    GR,
    GRAVITY,
    GRAVITY_COUNT,
    GRAVITY_SEEN,
    HELD_S,
    LEFT,
    LEFT_1,
    LIMIT,
    MOVED,
    MOVED_1,
    NOISE,
    RAMP_S,
    RR,
    SAMPLES,
    SHARE,
    SINK_COUNT,
    START_ACCELERATION,
    WINDOW_S,
)
from robot_id.dynamics.kernels.rigid_body import INLINED
from robot_id.kernel_cache import njit

# Correlation that is believed.
CORRELATED = 0.8
# Of the first torque of a start: as far as it grows where a joint has no torque limit.
MOST_STARTS = 20.0
# Share of the torque limits that the gravity of the model must need to be judged.
SMALLEST_GRAVITY = 0.02
# Share of it that the robot carries itself.
LEAST_CARRIED, MOST_CARRIED = 0.7, 1.4
# Share of the gravity that is sent first: more tells less of a posture, less of the torques.
FIRST_GRAVITY = 0.35
# A robot sinks as the model says, unknown friction and loads apart: measured over predicted
# motion, in a row, beyond the noise of the speeds.
LEAST_SINK, MOST_SINK, SINKS_IN_A_ROW, SINK_SIGMAS = 0.2, 2.0, 2, 2.0
# Of the friction of the model, which holds a joint that sticks.
STUCK_SHARE = 1.5


@njit(**INLINED)
def say(event, kind, j, value, bound):
    event[0], event[1], event[2] = j, value, bound
    return kind


@njit(**INLINED)
def soften(bounds, state, scalars, gravity, friction, inertia, h, tau, j):
    """
    Limit the torque of joint j beyond the gravity of the model, until it has agreed.

    At first to what moves it a tenth of the allowed start within 50 ms, and what the model
    says that its friction takes; where that is not enough, the bound grows within the share of
    the torque limit. Once the joint agrees, the bound grows to the whole limit. Of the gravity
    itself the share is sent that `let_sink` allows.
    """
    limit, carried = bounds[LIMIT, j], scalars[CARRIED]
    if tau[j] * gravity > 0.0:
        tau[j] = math.copysign(max(abs(tau[j]) - (1.0 - carried) * abs(gravity), 0.0), tau[j])
    start = inertia * bounds[START_ACCELERATION, j]
    most = scalars[SHARE] * limit if limit < np.inf else MOST_STARTS * start
    agreed = state[AGREED, j] != 0.0
    if agreed and (state[ALLOWED, j] >= limit or scalars[RAMP_S] == 0.0):
        state[BEHIND, j] = 0.0
        return
    if state[ALLOWED, j] == 0.0:
        state[ALLOWED, j] = min(start, most)
    beyond = min(state[ALLOWED, j] + friction, max(most, state[ALLOWED, j]))
    bound = carried * abs(gravity) + beyond
    held = min(max(tau[j], -bound), bound)
    state[BEHIND, j] = _behind(state[BEHIND, j], agreed, held != tau[j])
    ramp = scalars[RAMP_S]
    if agreed:
        # An infinite limit needs no ramp.
        state[ALLOWED, j] += h / ramp * limit
    elif held != tau[j]:
        state[ALLOWED, j] = min(state[ALLOWED, j] + h / ramp * most, most)
    tau[j] = held


@njit(**INLINED)
def let_sink(bounds, state, scalars, M, h):
    """
    Choose the share of its gravity that a robot gets.

    With a part of it a robot without brakes sinks by the rest, as the model predicts where
    posture, order, signs and scales are right: after some samples it gets the whole. One that
    stands, by its brakes or its friction, gets more as the torque of the start grows; one that
    moves otherwise gets no more.
    """
    if scalars[CARRIED] >= 1.0:
        return
    scalars[CARRIED] = max(scalars[CARRIED], FIRST_GRAVITY)
    moves = lags = otherwise = False
    for j in range(M.shape[0]):
        noise = M[j, j] * math.sqrt(2.0 * state[NOISE, j]) / (h * scalars[FILTER_S])
        limit = bounds[LIMIT, j] if bounds[LIMIT, j] < np.inf else 0.0
        least = max(SINK_SIGMAS * noise, STUCK_SHARE * bounds[FRICTION, j])
        least = max(least, SMALLEST_GRAVITY * limit)
        v = abs(state[LEFT_1, j])
        u = math.copysign(1.0, state[LEFT_1, j]) * state[MOVED_1, j]
        otherwise = otherwise or max(-u, u - MOST_SINK * v) > least
        if v > least:
            moves = moves or u > SINK_SIGMAS * noise
            lags = lags or u < LEAST_SINK * v
    sinks = moves and not lags and not otherwise
    scalars[SINK_COUNT] = scalars[SINK_COUNT] + 1.0 if sinks else 0.0
    if scalars[SINK_COUNT] >= SINKS_IN_A_ROW:
        scalars[CARRIED] = 1.0
    elif not otherwise:
        more = (1.0 - FIRST_GRAVITY) * h / scalars[RAMP_S]
        scalars[CARRIED] = min(scalars[CARRIED] + more, 1.0)


@njit(**INLINED)
def _behind(before, agreed, held):
    """Return 2 before a joint agrees; 1 where it agrees now, or its torque is held; else 0."""
    if not agreed:
        return 2.0
    return 1.0 if held or before == 2.0 else 0.0


@njit(**INLINED)
def judge_gravity(bounds, state, scalars, event, gravity, h):
    """
    Whether the robot carries its gravity itself: then v - u = -g, over the last window.

    In shares of the torque limits, over all joints.
    """
    if scalars[GRAVITY_SEEN] != 0.0 or scalars[SAMPLES] < 3.0:
        return FINE
    b = 1.0 - math.exp(-h / scalars[WINDOW_S])
    gg = gr = rr = 0.0
    heaviest = 0
    for j in range(gravity.shape[0]):
        limit = bounds[LIMIT, j]
        if limit == np.inf:
            continue
        g, r = gravity[j] / limit, (state[LEFT, j] - state[MOVED, j]) / limit
        gg, gr, rr = gg + g * g, gr - g * r, rr + r * r
        if abs(gravity[j]) / limit > abs(gravity[heaviest]) / bounds[LIMIT, heaviest]:
            heaviest = j
    scalars[GG] += b * (gg - scalars[GG])
    scalars[GR] += b * (gr - scalars[GR])
    scalars[RR] += b * (rr - scalars[RR])
    gg, gr, rr = scalars[GG], scalars[GR], scalars[RR]
    if gg < SMALLEST_GRAVITY**2:
        return FINE
    share = gr / gg
    carried = LEAST_CARRIED < share < MOST_CARRIED and gr * gr > CORRELATED * gg * rr
    scalars[GRAVITY_COUNT] = scalars[GRAVITY_COUNT] + h if carried else 0.0
    scalars[HELD_S] = 0.0 if share > 0.5 else scalars[HELD_S] + h
    if scalars[GRAVITY_COUNT] > scalars[WINDOW_S]:
        return say(event, GRAVITY, heaviest, share, LEAST_CARRIED)
    if scalars[HELD_S] > 4.0 * scalars[WINDOW_S]:
        scalars[GRAVITY_SEEN] = 1.0
    return FINE
