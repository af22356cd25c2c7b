"""
Random arms with hard dry friction: an independent plant with a known truth.

Nothing of `robot_id.dynamics` stands in it. Bodies are those of a URDF, their torques by the
recursive Newton-Euler equations in link frames; M(q) is made of n such calls. Dry friction is a
set-valued torque f_j in Fc_j Sgn(dq_j): each step solves

    (M + h D / 2) v+ = (M - h D / 2) v + h (tau - e(q, v') - f),    |f_j| <= Fc_j

by projected Gauss-Seidel, so a joint sticks below its budget and slides above it. Positions stand
between the velocities (leapfrog), v' is the velocity extrapolated to them: of second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from types import SimpleNamespace

import numba
import numpy as np
from numpy.typing import NDArray
from plants.mujoco_arms import random_mount, write_robot
from plants.mujoco_recordings import Motion, reference

from robot_id.data.dataset import Dataset, Run
from robot_id.dynamics.regressor import regressor
from robot_id.robot import Robot

Array = NDArray[np.float64]
CONTROL_HZ, SUBSTEPS, SWEEPS = 1000.0, 8, 60
# Of the loop; a slower one would droop far under gravity.
BANDWIDTHS_HZ = (10.0, 25.0)
# Of a rotor alone behind an elastic drive, rad/s: a controller of 1 kHz cannot be faster.
FASTEST_ROTOR = 400.0
# Random states that determine the base parameters.
STATES = 300
# Length of the motion on which the true error of a model is measured.
FRESH_S = 8.0


@dataclass(frozen=True)
class Effects:
    """
    What acts on the joints beside rigid bodies, rotors, viscous and hard Coulomb friction.

    :param stribeck: share of Fc by which friction is larger at rest, over 0.05 rad/s.
    :param load: share of the rigid torque that is added to Fc.
    :param spring: share of the rms of the rigid torques that a spring has at the rms of q.
    :param cogging: share of Fc, 12 periods a turn of the joint.
    :param warming: share of Fc and Fv that is lost until the end, exponentially.
    :param payload_kg: mass that is attached to the last link from half of the recording on.
    :param scale: factor of the first joint's recorded torque.
    :param smooth: slope of 2/pi atan(slope dq) in place of hard friction; 0 for hard.
    :param elastic_hz: frequency of the elastic drives; 0 for stiff ones.
    :param backlash: rad, of the encoders against the joints.
    """

    stribeck: float = 0.0
    load: float = 0.0
    spring: float = 0.0
    cogging: float = 0.0
    warming: float = 0.0
    payload_kg: float = 0.0
    scale: float = 1.0
    smooth: float = 0.0
    elastic_hz: float = 0.0
    backlash: float = 0.0


PLAIN = Effects()


@dataclass(frozen=True)
class Bodies:
    """
    A serial arm of n revolute joints about the z axes of their frames.

    :param R: (n, 3, 3) orientation of each joint frame in the one before; p (n, 3) its origin.
    :param m: (n,) masses, c (n, 3) their centres, I (n, 3, 3) inertia about these.
    """

    R: Array
    p: Array
    m: Array
    c: Array
    I: Array
    gravity: Array
    rotor: Array
    viscous: Array
    coulomb: Array

    @property
    def n(self) -> int:
        """Number of joints."""
        return len(self.m)

    def torques(self, q: Array, dq: Array, ddq: Array) -> Array:
        """(N, n) torques of bodies and rotors, without friction."""
        return _torques(self.R, self.p, self.m, self.c, self.I, self.gravity, q, dq, ddq) + (
            self.rotor * ddq
        )


@dataclass(frozen=True)
class HardArm:
    """
    An arm as written to a folder, with its bodies and its recording.

    :param fresh: another motion of the same arm without torque noise, as it is at the end of the
        recording (warm, with its load) and with right torques; None where none was asked for.
    """

    bodies: Bodies
    robot_file: Path
    dataset: Dataset
    fresh: Dataset | None = None

    def truth(self, robot: Robot) -> Array:
        """(b,) base parameters: those that give the torques of random states."""
        rng, n = np.random.default_rng(0), self.bodies.n
        q, dq = rng.uniform(-2.0, 2.0, (STATES, n)), rng.normal(size=(STATES, n))
        ddq = 3.0 * rng.normal(size=(STATES, n))
        tau = self.bodies.torques(q, dq, ddq) + self.bodies.viscous * dq
        tau += self.bodies.coulomb * np.sign(dq)
        W = regressor(robot, q, dq, ddq).reshape(STATES * n, -1)
        chi = np.linalg.lstsq(W, tau.ravel(), rcond=None)[0]
        if np.linalg.norm(W @ chi - tau.ravel()) > 1e-8 * np.linalg.norm(tau):
            raise ValueError('the robot file does not describe the plant')
        return np.asarray(chi)


def make(
    folder: Path,
    seed: int,
    motion: Motion | None = None,
    effects: Effects = PLAIN,
    joints: int | None = None,
    with_reference: bool = False,
    fresh: bool = False,
) -> HardArm:
    """
    Return a random arm and its recording, all drawn from the seed.

    :param motion: length and rate; None draws 6 to 30 s at 100 Hz to 1 kHz.
    :param joints: 2 to 5 where None.
    :param fresh: with another motion of 8 s, to measure the true error of a model.
    """
    rng = np.random.default_rng([seed, 4711])
    n = int(rng.integers(2, 6)) if joints is None else joints
    drawn = Motion(float(rng.uniform(6.0, 30.0)), float(rng.choice([100, 200, 250, 500, 1000])))
    motion = drawn if motion is None else motion
    bodies = _random_bodies(n, rng)
    robot_file = write_robot(
        folder / f'hard_{seed}.yaml', _urdf(bodies, folder, seed), bodies.gravity
    )
    every = round(CONTROL_HZ / motion.rate)
    frame = SimpleNamespace(nv=n, jnt_range=np.tile([-2.5, 2.5], (n, 1)), jnt_type=np.full(n, 3))
    wanted = reference(frame, replace(motion, rate=CONTROL_HZ), rng)
    bodies = _with_drives(bodies, wanted, rng)
    q, tau = _play(bodies, wanted, effects, rng)
    step = 2.0 * np.pi / 2**17
    zero = rng.uniform(0.0, step, n)
    q = np.round((q[::every] - zero) / step) * step + zero
    tau = tau[::every] * np.where(np.arange(n) == 0, effects.scale, 1.0)
    tau = tau + rng.normal(size=tau.shape) * np.sqrt((tau**2).mean(axis=0)) * rng.uniform(
        0.003, 0.015, n
    )
    names = tuple(f'joint_{j + 1}' for j in range(n))
    followed = (
        dict(zip(('reference_position', 'reference_velocity', 'reference_acceleration'),
                 (x[::every] for x in wanted)))
        if with_reference
        else {}
    )  # fmt: skip
    run = Run(time=np.arange(len(q)) / motion.rate, position=q, torque=tau, **followed)
    recorded = Dataset(names, (run,), f'hard_{seed}')
    if not fresh:
        return HardArm(bodies, robot_file, recorded)
    rng = np.random.default_rng([seed, 4712])
    wanted = reference(frame, Motion(FRESH_S, CONTROL_HZ), rng)
    q, tau = _play(bodies, wanted, effects, rng, late=True)
    run = Run(np.arange(len(q[::every])) / motion.rate, q[::every], tau[::every])
    return HardArm(bodies, robot_file, recorded, replace(recorded, runs=(run,)))


def _random_bodies(n: int, rng: np.random.Generator) -> Bodies:
    R, p, I = np.empty((n, 3, 3)), np.zeros((n, 3)), np.empty((n, 3, 3))
    m = 8.0 * rng.uniform(0.4, 0.7, n).cumprod()
    c = rng.uniform(-0.12, 0.12, (n, 3))
    c[:, 0] += 0.1
    for j in range(n):
        turn = rng.choice([0.0, 0.5 * np.pi, -0.5 * np.pi]) if j else 0.0
        R[j] = _rpy(turn, 0.0, float(rng.uniform(-0.5, 0.5)))
        p[j] = [rng.uniform(0.1, 0.4), rng.uniform(-0.1, 0.1), rng.uniform(-0.1, 0.2)]
        axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        spread = m[j] * 0.1**2 * rng.uniform(0.2, 1.0, 3)
        I[j] = axes @ np.diag(spread.sum() - spread) @ axes.T
    zero = np.zeros(n)
    return Bodies(R, p, m, c, I, random_mount(rng), zero, zero, zero)


def _with_drives(bodies: Bodies, wanted: tuple[Array, Array, Array], rng) -> Bodies:
    """Give the arm rotors and friction that suit its motion."""
    alone = bodies.torques(*(np.ascontiguousarray(x[::10]) for x in wanted))
    size = np.sqrt((alone**2).mean(axis=0))
    size = np.maximum(size, 0.05 * size.max())
    M = np.mean([np.diag(_inertia(bodies, q)) for q in wanted[0][:: len(wanted[0]) // 20]], axis=0)
    speed = np.sqrt((wanted[1] ** 2).mean(axis=0))
    n = bodies.n
    return replace(
        bodies,
        rotor=M * rng.uniform(0.1, 0.6, n),
        coulomb=size * rng.uniform(0.03, 0.15, n),
        viscous=size * rng.uniform(0.03, 0.12, n) / speed,
    )


def _inertia(bodies: Bodies, q: Array) -> Array:
    n = bodies.n
    M = np.empty((n, n))
    b = bodies
    _mass(b.R, b.p, b.m, b.c, b.I, q, M)
    return M


def _play(
    bodies: Bodies,
    wanted: tuple[Array, Array, Array],
    effects: Effects,
    rng: np.random.Generator,
    late: bool = False,
) -> tuple[Array, Array]:
    """
    Return (N, n) measured positions and torques of a PD loop of 1 kHz.

    :param late: the arm is as it is at the end of a recording, warm and with its load.
    """
    b, e = bodies, effects
    M = np.mean([np.diag(_inertia(b, q)) for q in wanted[0][:: len(wanted[0]) // 20]], axis=0)
    w = np.full(b.n, 2.0 * np.pi * rng.uniform(*BANDWIDTHS_HZ))
    if e.elastic_hz > 0.0:
        # Above the resonance the controller has the rotor alone in its hands.
        w = np.minimum(w, 0.5 * FASTEST_ROTOR * b.rotor / (M + b.rotor))
    gains = np.stack([(M + b.rotor) * w**2, 2.0 * (M + b.rotor) * w])
    rms = np.sqrt((b.torques(*(np.ascontiguousarray(x[::10]) for x in wanted)) ** 2).mean(axis=0))
    middle = wanted[0].mean(axis=0)
    stiffness = e.spring * rms / np.maximum(wanted[0].std(axis=0), 1e-3)
    numbers = np.array([e.stribeck, e.load, e.cogging, e.warming, e.payload_kg, e.smooth,
                        e.elastic_hz, e.backlash, late])  # fmt: skip
    return _loop(
        b.R, b.p, b.m, b.c, b.I, b.gravity, b.rotor, b.viscous, b.coulomb,
        *wanted[:2], gains, stiffness, middle, numbers, 1.0 / CONTROL_HZ, SUBSTEPS,
    )  # fmt: skip


def _rpy(r: float, p: float, y: float) -> Array:
    cr, sr, cp, sp, cy, sy = np.cos(r), np.sin(r), np.cos(p), np.sin(p), np.cos(y), np.sin(y)
    return np.array([
        [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
        [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
        [-sp, cp * sr, cp * cr],
    ])  # fmt: skip


def _urdf(bodies: Bodies, folder: Path, seed: int) -> Path:
    parts = [f"<robot name='hard_{seed}'><link name='link_0'/>"]
    for j in range(bodies.n):
        R, I = bodies.R[j], bodies.I[j]
        roll = np.arctan2(R[2, 1], R[2, 2])
        yaw = np.arctan2(R[1, 0], R[0, 0])
        p, c = (' '.join(f'{float(x):.17g}' for x in v) for v in (bodies.p[j], bodies.c[j]))
        tensor = ' '.join(
            f"i{'xyz'[a]}{'xyz'[b]}='{I[a, b]:.17g}'" for a in range(3) for b in range(a, 3)
        )
        parts.append(
            f"<link name='link_{j + 1}'><inertial><origin xyz='{c}' rpy='0 0 0'/>"
            f"<mass value='{bodies.m[j]:.17g}'/><inertia {tensor}/></inertial></link>"
            f"<joint name='joint_{j + 1}' type='continuous'><parent link='link_{j}'/>"
            f"<child link='link_{j + 1}'/><origin xyz='{p}' rpy='{roll:.17g} 0 {yaw:.17g}'/>"
            "<axis xyz='0 0 1'/></joint>"
        )
    path = folder / f'hard_{seed}.urdf'
    path.write_text('\n'.join([*parts, '</robot>']))
    return path


@numba.njit(cache=True)
def _cross(a, b, out):  # type: ignore[no-untyped-def]
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@numba.njit(cache=True)
def _newton_euler(R, p, m, c, I, g, q, dq, ddq, work, tau):  # type: ignore[no-untyped-def]
    """Fill tau (n,): recursive Newton-Euler in link frames; work (n, 24)."""
    n = q.shape[0]
    w, dw, a = np.zeros(3), np.zeros(3), np.empty(3)
    x, y, z = np.empty(3), np.empty(3), np.empty(3)
    for k in range(3):
        a[k] = -g[k]
    for j in range(n):
        s, co = np.sin(q[j]), np.cos(q[j])
        E = work[j, :9].reshape(3, 3)  # link in parent: R Rz(q)
        for r in range(3):
            E[r, 0] = R[j, r, 0] * co + R[j, r, 1] * s
            E[r, 1] = -R[j, r, 0] * s + R[j, r, 1] * co
            E[r, 2] = R[j, r, 2]
        _cross(dw, p[j], x)
        _cross(w, p[j], y)
        _cross(w, y, z)
        for k in range(3):
            x[k] += a[k] + z[k]
        wn, dwn = np.empty(3), np.empty(3)
        for k in range(3):
            wn[k] = E[0, k] * w[0] + E[1, k] * w[1] + E[2, k] * w[2]
            dwn[k] = E[0, k] * dw[0] + E[1, k] * dw[1] + E[2, k] * dw[2]
            a[k] = E[0, k] * x[0] + E[1, k] * x[1] + E[2, k] * x[2]
        dwn[0] += wn[1] * dq[j]
        dwn[1] -= wn[0] * dq[j]
        dwn[2] += ddq[j]
        wn[2] += dq[j]
        w, dw = wn, dwn
        _cross(dw, c[j], x)
        _cross(w, c[j], y)
        _cross(w, y, z)
        f, nn = work[j, 9:12], work[j, 12:15]
        for k in range(3):
            f[k] = m[j] * (a[k] + x[k] + z[k])
            nn[k] = I[j, k, 0] * dw[0] + I[j, k, 1] * dw[1] + I[j, k, 2] * dw[2]
            y[k] = I[j, k, 0] * w[0] + I[j, k, 1] * w[1] + I[j, k, 2] * w[2]
        _cross(w, y, z)
        _cross(c[j], f, x)
        for k in range(3):
            nn[k] += z[k] + x[k]
    for j in range(n - 1, -1, -1):
        f, nn = work[j, 9:12], work[j, 12:15]
        tau[j] = nn[2]
        if j > 0:
            E = work[j, :9].reshape(3, 3)
            for k in range(3):
                x[k] = E[k, 0] * f[0] + E[k, 1] * f[1] + E[k, 2] * f[2]
                y[k] = E[k, 0] * nn[0] + E[k, 1] * nn[1] + E[k, 2] * nn[2]
            _cross(p[j], x, z)
            for k in range(3):
                work[j - 1, 9 + k] += x[k]
                work[j - 1, 12 + k] += y[k] + z[k]


@numba.njit(cache=True)
def _torques(R, p, m, c, I, g, q, dq, ddq):  # type: ignore[no-untyped-def]
    out = np.empty_like(q)
    work = np.zeros((q.shape[1], 24))
    for k in range(q.shape[0]):
        _newton_euler(R, p, m, c, I, g, q[k], dq[k], ddq[k], work, out[k])
    return out


@numba.njit(cache=True)
def _mass(R, p, m, c, I, q, M):  # type: ignore[no-untyped-def]
    n = q.shape[0]
    work, zero, unit, none = np.zeros((n, 24)), np.zeros(n), np.zeros(n), np.zeros(3)
    for j in range(n):
        unit[:] = 0.0
        unit[j] = 1.0
        _newton_euler(R, p, m, c, I, none, q, zero, unit, work, M[j])


@numba.njit(cache=True)
def _loop(R, p, m, c, I, g, rotor, viscous, coulomb, q_r, dq_r, gains, stiffness, middle,
          numbers, step, substeps):  # type: ignore[no-untyped-def]  # fmt: skip
    """Return (N, n) positions and torques. Over 60 lines: one compiled loop."""
    stribeck, load, cogging, warming, payload, smooth, elastic, backlash, late = numbers
    N, n = q_r.shape
    h = step / substeps
    m, c, I = m.copy(), c.copy(), I.copy()
    work, M, bias, zero = np.zeros((n, 24)), np.empty((n, n)), np.empty(n), np.zeros(n)
    A, b, budget = np.empty((n, n)), np.empty(n), np.empty(n)
    seen, torque = np.empty((N, n)), np.empty((N, n))
    # Where drives are elastic, the motors move beside the joints.
    q, v = q_r[0].copy(), dq_r[0].copy()
    motor, u = q.copy(), v.copy()
    before, last = v.copy(), v.copy()
    spring = (2.0 * np.pi * elastic) ** 2
    play = np.zeros(n)
    measured_before = q.copy()
    inertia = np.zeros(n)
    _mass(R, p, m, c, I, q, M)
    for j in range(n):
        inertia[j] = rotor[j] + M[j, j]
    tau = np.zeros(n)
    for k in range(N):
        if payload > 0.0 and k == (0 if late > 0.0 else N // 2):
            # A point mass 5 cm beyond the centre of the last link.
            total = m[n - 1] + payload
            r = c[n - 1] + np.array([0.05, 0.05, 0.05])
            d = r - c[n - 1]
            share = m[n - 1] * payload / total
            dd = d[0] ** 2 + d[1] ** 2 + d[2] ** 2
            for a in range(3):
                for e in range(3):
                    I[n - 1, a, e] += share * ((dd if a == e else 0.0) - d[a] * d[e])
                c[n - 1, a] = (m[n - 1] * c[n - 1, a] + payload * r[a]) / total
            m[n - 1] = total
        warm = 1.0
        if warming > 0.0:
            passed = 1.0 if late > 0.0 else k / N
            warm = 1.0 - warming * (1.0 - np.exp(-3.0 * passed)) / (1.0 - np.exp(-3.0))
        # Positions stand half a step after the moment at which the torque changes.
        at = motor - 0.5 * h * u if elastic > 0.0 else q - 0.5 * h * v
        for j in range(n):
            # Backlash: the encoder follows the joint with play.
            if backlash > 0.0:
                if at[j] - play[j] > 0.5 * backlash:
                    play[j] = at[j] - 0.5 * backlash
                elif at[j] - play[j] < -0.5 * backlash:
                    play[j] = at[j] + 0.5 * backlash
                seen[k, j] = play[j]
            else:
                seen[k, j] = at[j]
            rate = (at[j] - measured_before[j]) / step if k > 0 else dq_r[0, j]
            measured_before[j] = at[j]
            tau[j] = gains[0, j] * (q_r[k, j] - at[j]) + gains[1, j] * (dq_r[k, j] - rate)
            torque[k, j] = tau[j]
        for _ in range(substeps):
            for j in range(n):
                before[j] = 1.5 * v[j] - 0.5 * last[j]
                last[j] = v[j]
            _newton_euler(R, p, m, c, I, g, q, before, zero, work, bias)
            _mass(R, p, m, c, I, q, M)
            for j in range(n):
                side = u[j] if elastic > 0.0 else before[j]
                limit = coulomb[j] * warm
                if stribeck > 0.0:
                    limit *= 1.0 + stribeck * np.exp(-((side / 0.05) ** 2))
                if load > 0.0:
                    limit += load * abs(tau[j])
                budget[j] = limit
            D = viscous * warm
            if elastic > 0.0:
                # Motors with friction and rotors, springs of M_jj w^2, links.
                for j in range(n):
                    pull = spring * inertia[j] * (motor[j] - q[j])
                    pull += 0.02 * 2.0 * np.sqrt(spring) * inertia[j] * (u[j] - v[j])
                    x = rotor[j] * u[j] + h * (tau[j] - pull - D[j] * u[j])
                    limit = h * budget[j]
                    if x > limit:
                        u[j] = (x - limit) / rotor[j]
                    elif x < -limit:
                        u[j] = (x + limit) / rotor[j]
                    else:
                        u[j] = 0.0
                    motor[j] += h * u[j]
                    b[j] = h * (pull - bias[j] - stiffness[j] * (q[j] - middle[j]))
                v += np.linalg.solve(M, b)
            else:
                for j in range(n):
                    x = tau[j] - bias[j] - stiffness[j] * (q[j] - middle[j])
                    if cogging > 0.0:
                        x -= cogging * coulomb[j] * np.sin(12.0 * q[j])
                    if smooth > 0.0:
                        x -= budget[j] * 2.0 / np.pi * np.arctan(smooth * before[j])
                    b[j] = h * x
                    for e in range(n):
                        A[j, e] = M[j, e]
                    A[j, j] += rotor[j]
                    for e in range(n):
                        b[j] += A[j, e] * v[e]
                    b[j] -= 0.5 * h * D[j] * v[j]
                    A[j, j] += 0.5 * h * D[j]
                for _ in range(SWEEPS):
                    moved = 0.0
                    for j in range(n):
                        x = b[j]
                        for e in range(n):
                            if e != j:
                                x -= A[j, e] * v[e]
                        limit = 0.0 if smooth > 0.0 else h * budget[j]
                        new = 0.0
                        if x > limit:
                            new = (x - limit) / A[j, j]
                        elif x < -limit:
                            new = (x + limit) / A[j, j]
                        moved = max(moved, abs(new - v[j]))
                        v[j] = new
                    if moved < 1e-13:
                        break
            for j in range(n):
                q[j] += h * v[j]
    return seen, torque
