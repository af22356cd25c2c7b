"""
The compiled part of the supervisor: one call per sample, no allocation that grows.

The motion that was measured is compared with the torque that was sent, joint by joint, in the
equation of motion of the model: u = M(q) ddq is what moved, v = tau - N(q, dq) is what the model
says was left to move it. Both pass the same low-pass filter, so that u = v where model, signs and
units are right; an unknown load or friction adds a constant, so their variations are compared.
"""

from __future__ import annotations

import math

import numpy as np

from robot_id.control.laws.computed_torque import NOW
from robot_id.control.runtime.bound_torque import memory_at, tree_at
from robot_id.control.supervision.limits_kernel import limits, power
from robot_id.control.supervision.rows import (
    AGREED,
    APPLIED,
    BAD_COUNT,
    BEFORE,
    CALM_SPEED,
    CARRIED,
    FILTER_S,
    FINE,
    FORGOTTEN,
    FRICTION,
    GAIN,
    GAIN_SEEN,
    GOOD_COUNT,
    LAST_STEP,
    LEFT,
    LEFT_1,
    LIMIT,
    MEAN_OWN,
    MEAN_U,
    MEAN_V,
    MIDDLE,
    MOVED,
    MOVED_1,
    NOISE,
    OWN,
    OWN_1,
    SAMPLES,
    SATURATED_S,
    SATURATION,
    SATURATION_S,
    SEEN,
    SENT,
    SENT_BEFORE,
    SIGN,
    SLOW_SPEED,
    SPEED,
    SPEED_1,
    SPEED_2,
    STEP_S,
    UO,
    UU,
    UV,
    VV,
    WINDOW_S,
)
from robot_id.control.supervision.soft_start_kernel import (
    CORRELATED,
    STUCK_SHARE,
    judge_gravity,
    let_sink,
    say,
    soften,
)
from robot_id.dynamics.kernels.friction import add_rotors
from robot_id.dynamics.kernels.rigid_body import FAST, INLINED, composite, poses
from robot_id.dynamics.simulation.law import control_work, model_torque
from robot_id.kernel_cache import njit

# Time constants after which the filters have forgotten how they began.
SETTLED = 5.0
# Share of the torque limit, and standard deviations of its own noise, below which u is noise.
SMALLEST_SHARE, SMALLEST_SIGMAS = 0.002, 4.0
# Share of the friction of the model below which its error may be all of v.
FRICTION_SHARE = 0.2
# Variation of v that must move a joint, as a share of the torque limit.
LOW_SHARE = 0.005
# After its start a joint has more ways to be disturbed: only large torques are judged.
LATER_SHARE = 0.05
# Measured over predicted motion: a start model may be crude, but not by a unit or a gear.
LEAST_GAIN, MOST_GAIN = 0.2, 4.0
# Of a joint that moves against its torque; creep is below it, more of it by unknown friction.
REVERSED_GAIN, REVERSED_GAIN_WITHOUT = 0.03, 0.3
# A saturated sample counts once, another one takes back half.
RECOVERY = 0.5


@njit(**FAST)
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
        _begin(state, q)
    speed, ddq, bias, gravity, still, fed = rows[0], rows[1], rows[2], rows[3], rows[4], rows[5]
    filtered = 1.0 - math.exp(-h / scalars[FILTER_S])
    before = scalars[STEP_S] if scalars[SAMPLES] > 1.0 else h
    _differences(state, scalars, inputs, filtered, before, h, speed, ddq, still)
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
    kind, applied = FINE, scalars[APPLIED] != 0.0
    for j in range(n):
        found = limits(bounds, state, scalars, event, inputs, h, j)
        leaves = (inputs[0, j] - q[j]) * state[SPEED, j] < 0.0
        if found == FINE and applied:
            moved, own = 0.0, M[j, j] * ddq[j]
            for k in range(n):
                moved += M[j, k] * ddq[k]
            sent = (h * state[SENT, j] + before * state[SENT_BEFORE, j]) / (h + before)
            left = sent - bias[j]
            found = _compare(
                bounds, state, scalars, event, moved, own, left, abs(bias[j] - gravity[j]),
                abs(fed[j]), M[j, j], leaves, filtered, h, j,
            )  # fmt: skip
        if found == FINE and state[AGREED, j] != 0.0:
            found = power(bounds, state, scalars, event, inputs, speed, bias, M[j, j], h, j)
        if kind == FINE:
            kind = found
    if kind == FINE and applied:
        kind = judge_gravity(bounds, state, scalars, event, gravity, h)
    if applied:
        let_sink(bounds, state, scalars, M, h)
    for j in range(n):
        if applied:
            soften(bounds, state, scalars, gravity[j], abs(fed[j]), M[j, j], h, tau, j)
        full = abs(tau[j]) >= bounds[LIMIT, j]
        state[SATURATED_S, j] = max(state[SATURATED_S, j] + (h if full else -RECOVERY * h), 0.0)
        if kind == FINE and state[SATURATED_S, j] > scalars[SATURATION_S]:
            kind = say(event, SATURATION, j, state[SATURATED_S, j], scalars[SATURATION_S])
        state[SENT_BEFORE, j], state[SENT, j] = state[SENT, j], tau[j]
    _remember(history, int(scalars[SAMPLES]), inputs, tau)
    return kind


@njit(**INLINED)
def _differences(state, scalars, inputs, filtered, before, h, speed, ddq, still):
    """
    Fill velocity and acceleration (n,) from the last positions, and remember this one.

    The steps may differ, where samples were lost: `before` and `h` are the last two.
    """
    q = inputs[3]
    slowly = 1.0 - math.exp(-h / scalars[WINDOW_S])
    first = scalars[SAMPLES] < 2.0
    for j in range(q.shape[0]):
        now = (q[j] - state[BEFORE, j]) / h
        last = now if first else state[LAST_STEP, j]
        ddq[j] = 2.0 * (now - last) / (h + before)
        # Variance of a position by the second difference, 6 times it in equal steps. The steps of
        # an encoder come one by one: the largest of late counts.
        curve = ddq[j] * h * before
        state[NOISE, j] = max(curve * curve / 6.0, (1.0 - 0.2 * filtered) * state[NOISE, j])
        state[LAST_STEP, j], state[BEFORE, j] = now, q[j]
        # Between the two steps, as the acceleration.
        state[MIDDLE, j] = (before * now + h * last) / (h + before)
        measured = inputs[4, j]
        speed[j] = now if math.isnan(measured) else measured
        # The middle one of three: a single wrong position is no speed.
        a, b, c = speed[j], state[SPEED_1, j], state[SPEED_2, j]
        state[CALM_SPEED, j] = max(min(a, b), min(max(a, b), c))
        state[SPEED_2, j], state[SPEED_1, j] = state[SPEED_1, j], speed[j]
        state[SPEED, j] += filtered * (state[CALM_SPEED, j] - state[SPEED, j])
        state[SLOW_SPEED, j] += slowly * (state[SPEED, j] - state[SLOW_SPEED, j])
        if scalars[SAMPLES] < 3.0:
            # A robot that moves already does not begin to.
            state[SPEED, j] = state[SLOW_SPEED, j] = state[CALM_SPEED, j]
        still[j] = 0.0
    scalars[STEP_S] = h


@njit(**INLINED)
def _remember(history, sample, inputs, tau):
    at = sample % history.shape[0]
    for j in range(tau.shape[0]):
        history[at, 0, j], history[at, 1, j] = inputs[3, j], tau[j]
        history[at, 2, j], history[at, 3, j] = inputs[0, j], inputs[1, j]


@njit(**INLINED)
def _begin(state, q):
    """Begin at the first sample after a pause."""
    for i in range(FORGOTTEN):
        for j in range(q.shape[0]):
            state[i, j] = 0.0
    for j in range(q.shape[0]):
        state[BEFORE, j] = q[j]


@njit(**INLINED)
def _compare(
    bounds, state, scalars, event, moved, own, left, friction, fed, inertia, leaves, filtered, h, j
):
    """
    Compare the variations of u and v of joint j over the last window.

    Over 60 lines: one pass over the numbers of a joint, in compiled code.
    """
    if scalars[SAMPLES] < 3.0:
        return FINE
    state[MOVED_1, j] += filtered * (moved - state[MOVED_1, j])
    state[MOVED, j] += filtered * (state[MOVED_1, j] - state[MOVED, j])
    state[OWN_1, j] += filtered * (own - state[OWN_1, j])
    state[OWN, j] += filtered * (state[OWN_1, j] - state[OWN, j])
    state[LEFT_1, j] += filtered * (left - state[LEFT_1, j])
    state[LEFT, j] += filtered * (state[LEFT_1, j] - state[LEFT, j])
    u, v = state[MOVED, j], state[LEFT, j]
    if scalars[SAMPLES] * h < SETTLED * scalars[FILTER_S]:
        # A robot that falls already when it is first seen did not begin to by our torque.
        state[MEAN_U, j], state[MEAN_V, j], state[MEAN_OWN, j] = u, v, state[OWN, j]
        return FINE
    b = 1.0 - math.exp(-h / scalars[WINDOW_S])
    du, dv = u - state[MEAN_U, j], v - state[MEAN_V, j]
    down = state[OWN, j] - state[MEAN_OWN, j]
    state[MEAN_OWN, j] += b * down
    state[MEAN_U, j] += b * du
    state[MEAN_V, j] += b * dv
    keep = 1.0 - b
    state[UU, j] = keep * (state[UU, j] + b * du * du)
    state[VV, j] = keep * (state[VV, j] + b * dv * dv)
    state[UV, j] = keep * (state[UV, j] + b * du * dv)
    state[UO, j] = keep * (state[UO, j] + b * du * down)
    uu, vv, uv = state[UU, j], state[VV, j], state[UV, j]
    # Noise of the position in u: two low-pass filters on a second difference.
    T = scalars[FILTER_S]
    noise = SMALLEST_SIGMAS * inertia * math.sqrt(0.031 * state[NOISE, j] * h / T**5)
    limit = bounds[LIMIT, j]
    agreed = state[AGREED, j] != 0.0
    share = LATER_SHARE if agreed else SMALLEST_SHARE
    least = max(share * limit if limit < np.inf else 0.0, FRICTION_SHARE * friction)
    known = bounds[FRICTION, j] != 0.0
    stuck = STUCK_SHARE * max(fed, friction, bounds[FRICTION, j])
    expected = max(noise / LEAST_GAIN, LOW_SHARE * limit, stuck)
    if uu <= noise * noise or vv <= least * least or vv == 0.0:
        state[GOOD_COUNT, j] = 0.0
        # Not even noise hides a motion that the torque should have made.
        lame = known and not agreed and uu < LEAST_GAIN**2 * vv and vv > expected * expected
        # A brake that is closed holds the gravity that is not sent yet.
        lame = lame and scalars[CARRIED] >= 1.0
        state[BAD_COUNT, j] = state[BAD_COUNT, j] + h if lame else 0.0
        if state[BAD_COUNT, j] < scalars[WINDOW_S]:
            return FINE
        return say(event, GAIN, j, math.sqrt(uu / vv), LEAST_GAIN)
    state[SEEN, j] = 1.0
    correlation, gain = uv / math.sqrt(uu * vv), math.sqrt(uu / vv)
    needed = scalars[FILTER_S] if not agreed else 2.0 * scalars[FILTER_S]
    if abs(correlation) < CORRELATED:
        state[GOOD_COUNT, j] = state[BAD_COUNT, j] = 0.0
        return FINE
    state[GAIN_SEEN, j] = correlation * gain
    # A friction that the model does not know takes most of a small torque.
    good = correlation > 0.0 and (agreed or LEAST_GAIN <= gain <= MOST_GAIN)
    # What other joints make of this one, u - M_jj ddq_j, must vary less than its own part: it
    # agrees whatever the sign of this joint is.
    if good and not agreed and 2.0 * state[UO, j] < uu:
        state[GOOD_COUNT, j] = state[BAD_COUNT, j] = 0.0
        return FINE
    if good:
        state[GOOD_COUNT, j] += h
        state[BAD_COUNT, j] = 0.0
        if state[GOOD_COUNT, j] >= needed:
            state[AGREED, j] = 1.0
        return FINE
    state[GOOD_COUNT, j] = 0.0
    if gain < LEAST_GAIN and (agreed or not known or vv <= expected * expected):
        return FINE
    reversed_gain = REVERSED_GAIN if known else REVERSED_GAIN_WITHOUT
    if correlation < 0.0 and (gain < reversed_gain or not leaves):
        return FINE
    state[BAD_COUNT, j] += h
    if state[BAD_COUNT, j] < needed:
        return FINE
    if correlation < 0.0:
        return say(event, SIGN, j, correlation * gain, LEAST_GAIN)
    return say(event, GAIN, j, gain, MOST_GAIN if gain > 1.0 else LEAST_GAIN)
