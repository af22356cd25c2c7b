"""
The compiled part of the supervisor: one call per sample, no allocation that grows.

The motion that was measured is compared with the torque that was sent, joint by joint, in the
equation of motion of the model: u = M(q) ddq is what moved, v = tau - N(q, dq) is what the model
says was left to move it. Both pass the same low-pass filter, so that u = v where model, signs and
units are right; an unknown load or friction adds a constant, so their variations are compared.
"""

from __future__ import annotations

import math
from pathlib import Path

import numba
import numpy as np

from robot_id.control import supervision_rows
from robot_id.control.bound_torque import memory_at, tree_at
from robot_id.control.laws.computed_torque import NOW
from robot_id.control.supervision_rows import (
    ACCELERATED,
    ACCELERATED_1,
    ACCELERATION,
    AGREED,
    ALLOWED,
    APPLIED,
    BAD_COUNT,
    BEFORE,
    BEFORE_THAT,
    FAR_COUNT,
    FAST_COUNT,
    FILTER_S,
    FINE,
    FORGOTTEN,
    FRICTION,
    GAIN,
    GAIN_SEEN,
    GG,
    GOOD_COUNT,
    GR,
    GRAVITY,
    GRAVITY_COUNT,
    GRAVITY_SEEN,
    HARD_COUNT,
    HELD_S,
    LARGEST_ACCELERATION,
    LARGEST_ERROR,
    LARGEST_SPEED,
    LEFT,
    LEFT_1,
    LIMIT,
    LOWER,
    MEAN_U,
    MEAN_V,
    MIDDLE,
    MOVED,
    MOVED_1,
    NOISE,
    POSITION,
    POWER,
    RAMP_S,
    RR,
    SAMPLES,
    SATURATED_S,
    SATURATION,
    SATURATION_S,
    SEEN,
    SENT,
    SENT_BEFORE,
    SHARE,
    SIGN,
    SPEED,
    START,
    START_ACCELERATION,
    START_ERROR,
    STATIC,
    STOPPING,
    TRACKING,
    UPPER,
    UU,
    UV,
    VELOCITY,
    VV,
    WINDOW_S,
    WORK,
)
from robot_id.dynamics.friction import add_rotors
from robot_id.dynamics.kernel_cache import forget_if_changed
from robot_id.dynamics.kernels import FAST, INLINED, composite, poses
from robot_id.dynamics.law import control_work, model_torque

# Compiled with the rows as constants.
forget_if_changed('supervision', [Path(supervision_rows.__file__)], 'supervision_kernel.*')
# Two samples in a row: a single wrong measurement is no motion.
IN_A_ROW = 2
# Time constants after which the filters have forgotten how they began.
SETTLED = 5.0
# Correlation of u and v that is believed, either way.
CORRELATION = 0.8
# Share of the torque limit, and standard deviations of its own noise, below which u is noise.
SMALLEST_SHARE, SMALLEST_SIGMAS = 0.002, 6.0
# Share of the friction of the model below which its error may be all of v.
FRICTION_SHARE = 0.2
# After its start a joint has more ways to be disturbed: only large torques are judged.
LATER_SHARE = 0.05
# Measured over predicted motion: a start model may be crude, but not by a unit or a gear.
LEAST_GAIN, LEAST_GAIN_WITHOUT, MOST_GAIN = 0.2, 0.05, 4.0
# Of a joint that moves against its torque; the creep of an unknown friction is below it.
REVERSED_GAIN = 0.03
# Work that its own torque may do on a joint that leaves its reference: the kinetic energy at this
# share of the largest speed.
LEAVING_SPEED = 0.2
# A saturated sample counts once, another one takes back half.
RECOVERY = 0.5
# Of the first torque of a start: as far as it grows where a joint has no torque limit.
MOST_STARTS = 20.0
# Share of the torque limits that the gravity of the model must need to be judged.
SMALLEST_GRAVITY = 0.02
# Share of it that the robot carries itself.
LEAST_CARRIED, MOST_CARRIED = 0.7, 1.4


@numba.njit(**FAST)
def supervise(table, flags, bounds, state, scalars, event, history, inputs, h, tau):
    """
    Take in one sample, limit tau (n,) where the start is soft; return what is violated.

    :param inputs: (5, n) qr, dqr, ddqr, q and the measured velocity, NaN where there is none.
    :param event: (3,) takes joint, value and bound of a violation.
    :param history: (L, 4, n) the last samples: q, tau, qr, dqr, at `SAMPLES` modulo L.
    """
    tree, memory = tree_at(table), memory_at(table)
    n = tau.shape[0]
    rigid, rows = control_work(tree.parent.shape[0], n)
    inertia, values, slope = memory.inertia[NOW], memory.values[NOW], flags[2]
    q = inputs[3]
    if math.isnan(state[BEFORE, 0]):
        _begin(state, q, inputs)
    speed, ddq, bias, gravity, still, fed = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    filtered = 1.0 - math.exp(-h / scalars[FILTER_S])
    for j in range(n):
        last = (state[BEFORE, j] - state[BEFORE_THAT, j]) / h
        now = (q[j] - state[BEFORE, j]) / h
        ddq[j] = (now - last) / h
        curve = q[j] - 2.0 * state[BEFORE, j] + state[BEFORE_THAT, j]
        state[NOISE, j] += 0.2 * filtered * (curve * curve / 6.0 - state[NOISE, j])
        state[BEFORE_THAT, j], state[BEFORE, j] = state[BEFORE, j], q[j]
        # In the middle of the two steps, as the acceleration.
        state[MIDDLE, j] = 0.5 * (now + last)
        measured = inputs[4, j]
        speed[j] = now if math.isnan(measured) else measured
        state[SPEED, j] += filtered * (speed[j] - state[SPEED, j])
        still[j] = 0.0
    model_torque(tree, inertia, values, q, still, still, slope, rigid, gravity)
    model_torque(tree, inertia, values, q, inputs[1], still, slope, rigid, fed)
    for j in range(n):
        fed[j] -= gravity[j]
    model_torque(tree, inertia, values, q, state[MIDDLE], still, slope, rigid, bias)
    R, p, C, M = rigid[0], rigid[1], rigid[7], rigid[8]
    poses(tree, q, R, p)
    composite(tree, inertia, R, p, C, M)
    add_rotors(tree, values, M)
    scalars[SAMPLES] += 1.0
    kind = FINE
    applied = scalars[APPLIED] != 0.0
    for j in range(n):
        state[STATIC, j] = gravity[j]
        found = _limits(bounds, state, scalars, event, inputs, speed, ddq, filtered, h, j)
        if found == FINE and applied:
            moved = 0.0
            for k in range(n):
                moved += M[j, k] * ddq[k]
            left = 0.5 * (state[SENT, j] + state[SENT_BEFORE, j]) - bias[j]
            found = _compare(
                bounds, state, scalars, event, moved, left, abs(bias[j] - gravity[j]), M[j, j],
                filtered, h, j,
            )  # fmt: skip
        if found == FINE and state[AGREED, j] != 0.0:
            found = _power(bounds, state, scalars, event, inputs, speed, bias, M[j, j], h, j)
        if kind == FINE:
            kind = found
    if kind == FINE and applied:
        kind = _judge_gravity(bounds, state, scalars, event, gravity, h)
    for j in range(n):
        if applied:
            _soften(bounds, state, scalars, gravity[j], abs(fed[j]), M[j, j], h, tau, j)
        full = abs(tau[j]) >= bounds[LIMIT, j]
        state[SATURATED_S, j] = max(state[SATURATED_S, j] + (h if full else -RECOVERY * h), 0.0)
        if kind == FINE and state[SATURATED_S, j] > scalars[SATURATION_S]:
            kind = _say(event, SATURATION, j, state[SATURATED_S, j], scalars[SATURATION_S])
        state[SENT_BEFORE, j], state[SENT, j] = state[SENT, j], tau[j]
    at = int(scalars[SAMPLES]) % history.shape[0]
    for j in range(n):
        history[at, 0, j], history[at, 1, j] = q[j], tau[j]
        history[at, 2, j], history[at, 3, j] = inputs[0, j], inputs[1, j]
    return kind


@numba.njit(**INLINED)
def _say(event, kind, j, value, bound):
    event[0], event[1], event[2] = j, value, bound
    return kind


@numba.njit(**INLINED)
def _begin(state, q, inputs):
    """Begin at the first sample after a pause: as fast as its reference."""
    for i in range(FORGOTTEN):
        for j in range(q.shape[0]):
            state[i, j] = 0.0
    for j in range(q.shape[0]):
        state[BEFORE, j] = state[BEFORE_THAT, j] = q[j]


@numba.njit(**INLINED)
def _limits(bounds, state, scalars, event, inputs, speed, ddq, filtered, h, j):
    """Position, velocity, acceleration and tracking error of joint j, each twice in a row."""
    q, error = inputs[3, j], abs(inputs[0, j] - inputs[3, j])
    if scalars[SAMPLES] > 2.0:
        state[ACCELERATED_1, j] += filtered * (ddq[j] - state[ACCELERATED_1, j])
        state[ACCELERATED, j] += filtered * (state[ACCELERATED_1, j] - state[ACCELERATED, j])
    started = state[AGREED, j] != 0.0 or scalars[APPLIED] == 0.0
    largest = bounds[LARGEST_ERROR, j] if started else bounds[START_ERROR, j]
    state[FAR_COUNT, j] = state[FAR_COUNT, j] + 1.0 if not error <= largest else 0.0
    if state[FAR_COUNT, j] >= IN_A_ROW:
        return _say(event, TRACKING if started else START, j, error, largest)
    if scalars[STOPPING] != 0.0:
        return FINE
    outside = not bounds[LOWER, j] <= q <= bounds[UPPER, j]
    if outside:
        below = q < bounds[LOWER, j]
        return _say(event, POSITION, j, q, bounds[LOWER, j] if below else bounds[UPPER, j])
    state[FAST_COUNT, j] = _row(state[FAST_COUNT, j], speed[j], bounds[LARGEST_SPEED, j])
    if abs(state[FAST_COUNT, j]) >= IN_A_ROW and scalars[SAMPLES] > 2.0:
        return _say(event, VELOCITY, j, speed[j], bounds[LARGEST_SPEED, j])
    gain = state[ACCELERATED, j]
    state[HARD_COUNT, j] = _row(state[HARD_COUNT, j], gain, bounds[LARGEST_ACCELERATION, j])
    if abs(state[HARD_COUNT, j]) >= IN_A_ROW:
        return _say(event, ACCELERATION, j, gain, bounds[LARGEST_ACCELERATION, j])
    return FINE


@numba.njit(**INLINED)
def _row(count, value, bound):
    """Return how many times in a row a value was beyond its bound, with its direction."""
    if abs(value) <= bound:
        return 0.0
    if value > 0.0:
        return count + 1.0 if count > 0.0 else 1.0
    return count - 1.0 if count < 0.0 else -1.0


@numba.njit(**INLINED)
def _compare(bounds, state, scalars, event, moved, left, friction, inertia, filtered, h, j):
    """Compare the variations of u and v of joint j over the last window."""
    if scalars[SAMPLES] < 3.0:
        return FINE
    state[MOVED_1, j] += filtered * (moved - state[MOVED_1, j])
    state[MOVED, j] += filtered * (state[MOVED_1, j] - state[MOVED, j])
    state[LEFT_1, j] += filtered * (left - state[LEFT_1, j])
    state[LEFT, j] += filtered * (state[LEFT_1, j] - state[LEFT, j])
    u, v = state[MOVED, j], state[LEFT, j]
    if scalars[SAMPLES] * h < SETTLED * scalars[FILTER_S]:
        # A robot that falls already when it is first seen did not begin to by our torque.
        state[MEAN_U, j], state[MEAN_V, j] = u, v
        return FINE
    b = 1.0 - math.exp(-h / scalars[WINDOW_S])
    du, dv = u - state[MEAN_U, j], v - state[MEAN_V, j]
    state[MEAN_U, j] += b * du
    state[MEAN_V, j] += b * dv
    keep = 1.0 - b
    state[UU, j] = keep * (state[UU, j] + b * du * du)
    state[VV, j] = keep * (state[VV, j] + b * dv * dv)
    state[UV, j] = keep * (state[UV, j] + b * du * dv)
    uu, vv, uv = state[UU, j], state[VV, j], state[UV, j]
    # Noise of the position in u: two low-pass filters on a second difference.
    T = scalars[FILTER_S]
    noise = SMALLEST_SIGMAS * inertia * math.sqrt(0.031 * state[NOISE, j] * h / T**5)
    limit = bounds[LIMIT, j]
    agreed = state[AGREED, j] != 0.0
    share = LATER_SHARE if agreed else SMALLEST_SHARE
    least = max(share * limit if limit < np.inf else 0.0, FRICTION_SHARE * friction)
    if uu <= noise * noise or vv <= least * least or vv == 0.0:
        state[GOOD_COUNT, j] = state[BAD_COUNT, j] = 0.0
        return FINE
    state[SEEN, j] = 1.0
    correlation, gain = uv / math.sqrt(uu * vv), math.sqrt(uu / vv)
    needed = scalars[FILTER_S] if not agreed else 2.0 * scalars[FILTER_S]
    if abs(correlation) < CORRELATION:
        state[GOOD_COUNT, j] = state[BAD_COUNT, j] = 0.0
        return FINE
    state[GAIN_SEEN, j] = correlation * gain
    # A friction that the model does not know takes most of a small torque.
    known = bounds[FRICTION, j] != 0.0
    least_gain = LEAST_GAIN if known else LEAST_GAIN_WITHOUT
    good = correlation > 0.0 and (agreed or least_gain <= gain <= MOST_GAIN)
    if good:
        state[GOOD_COUNT, j] += h
        state[BAD_COUNT, j] = 0.0
        if state[GOOD_COUNT, j] >= needed:
            state[AGREED, j] = 1.0
        return FINE
    state[GOOD_COUNT, j] = 0.0
    if gain < least_gain and (agreed or not known):
        return FINE
    if correlation < 0.0 and gain < REVERSED_GAIN:
        return FINE
    state[BAD_COUNT, j] += h
    if state[BAD_COUNT, j] < needed:
        return FINE
    if correlation < 0.0:
        return _say(event, SIGN, j, correlation * gain, least_gain)
    return _say(event, GAIN, j, gain, MOST_GAIN if gain > 1.0 else least_gain)


@numba.njit(**INLINED)
def _power(bounds, state, scalars, event, inputs, speed, bias, inertia, h, j):
    """Work that the torque does on joint j while it leaves its reference, over the last window."""
    leaving = speed[j] - inputs[1, j]
    pushing = state[SENT, j] - bias[j]
    state[WORK, j] *= math.exp(-h / scalars[WINDOW_S])
    if leaving * (inputs[0, j] - inputs[3, j]) < 0.0 and pushing * leaving > 0.0:
        state[WORK, j] += h * pushing * leaving
    fast = LEAVING_SPEED * bounds[LARGEST_SPEED, j]
    largest = 0.5 * inertia * fast * fast
    if state[WORK, j] > largest and abs(leaving) > fast:
        return _say(event, POWER, j, state[WORK, j], largest)
    return FINE


@numba.njit(**INLINED)
def _judge_gravity(bounds, state, scalars, event, gravity, h):
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
    carried = LEAST_CARRIED < share < MOST_CARRIED and gr * gr > CORRELATION * gg * rr
    scalars[GRAVITY_COUNT] = scalars[GRAVITY_COUNT] + h if carried else 0.0
    scalars[HELD_S] = 0.0 if share > 0.5 else scalars[HELD_S] + h
    if scalars[GRAVITY_COUNT] > scalars[WINDOW_S]:
        return _say(event, GRAVITY, heaviest, share, LEAST_CARRIED)
    if scalars[HELD_S] > 4.0 * scalars[WINDOW_S]:
        scalars[GRAVITY_SEEN] = 1.0
    return FINE


@numba.njit(**INLINED)
def _soften(bounds, state, scalars, gravity, friction, inertia, h, tau, j):
    """
    Limit the torque of joint j beyond the gravity of the model, until it has agreed.

    At first to what moves it a fifth of the allowed start within 50 ms, and what the model says
    that its friction takes; where that is not enough, the bound grows within the share of the
    torque limit. Once the joint agrees, the bound grows to the whole limit.
    """
    limit = bounds[LIMIT, j]
    start = inertia * bounds[START_ACCELERATION, j]
    most = scalars[SHARE] * limit if limit < np.inf else MOST_STARTS * start
    agreed = state[AGREED, j] != 0.0
    if agreed and (state[ALLOWED, j] >= limit or scalars[RAMP_S] == 0.0):
        return
    if state[ALLOWED, j] == 0.0:
        state[ALLOWED, j] = min(start, most)
    bound = abs(gravity) + min(state[ALLOWED, j] + friction, max(most, state[ALLOWED, j]))
    held = min(max(tau[j], -bound), bound)
    ramp = scalars[RAMP_S]
    if agreed:
        # An infinite limit needs no ramp.
        state[ALLOWED, j] += h / ramp * limit
    elif held != tau[j]:
        state[ALLOWED, j] = min(state[ALLOWED, j] + h / ramp * most, most)
    tau[j] = held
