"""
Parallel decimation: zero-phase low-pass filtering that computes only the samples it keeps.

The filter is the one of Matlab's `decimate`: Chebyshev type I, order 8, 0.05 dB of ripple, cut-off
0.8 f/(2 n_d), run forward and backward. Its zero-phase impulse response is a sum over the poles
p_i of the filter (four conjugate pairs),

    h[k] = delta [k = 0] + sum_i c_i p_i^|k|,

so the output needs, at each kept sample, only the sums of p_i^k x[n - k] and of p_i^k x[n + k].
These obey a recursion from one kept sample to the next, in which the n_d samples between enter
through one small matrix product. Filtering all samples and dropping most costs many times more.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, log

import numpy as np
from numpy.typing import NDArray

from robot_id.exceptions import OptionError
from robot_id.kernel_cache import njit

Array = NDArray[np.float64]
ORDER = 8
RIPPLE_DB = 0.05
# Beyond this factor a single stage has its poles too close to each other.
LARGEST_STAGE = 13
# The filter ignores samples beyond this decay.
NEGLIGIBLE = 1e-15
Complex = NDArray[np.complex128]


def chebyshev(order: int, ripple_db: float, cutoff: float) -> tuple[Complex, Complex, float]:
    """
    Return zeros (N,), poles (N,) and gain in the z-plane.

    :param order: N.
    :param ripple_db: ripple r of the pass band [dB].
    :param cutoff: end of the pass band, as a share of half the sample rate, in (0, 1).
    """
    ripple = np.sqrt(10 ** (0.1 * ripple_db) - 1.0)
    angle = np.pi * np.arange(-order + 1, order, 2) / (2 * order)
    analogue = -np.sinh(np.arcsinh(1.0 / ripple) / order + 1j * angle)
    gain = np.prod(-analogue).real
    if order % 2 == 0:
        gain /= np.sqrt(1.0 + ripple * ripple)
    # The bilinear transform s = 4 (z - 1)/(z + 1), at two samples per unit of time.
    warped = 4.0 * np.tan(np.pi * cutoff / 2.0)
    analogue = warped * analogue
    gain *= warped**order
    gain *= np.real(1.0 / np.prod(4.0 - analogue))
    poles = (4.0 + analogue) / (4.0 - analogue)
    return -np.ones(order, dtype=np.complex128), poles, float(gain)


@njit(cache=True, fastmath={'contract'})
def sweep(x, start, stride, steps, weights, turn, mix, state, y):  # type: ignore[no-untyped-def]
    """
    Add the pole sums of one direction to y, from one kept row to the next.

    At each kept row n the sums s_i seen from there are added, y += sum_i mix_i s_i; then they are
    moved to the next one, s_i <- p_i^r s_i + (the r rows between).
    """
    r, columns, fours = abs(stride), x.shape[1], abs(stride) // 4 * 4
    for step in range(steps + 1):
        n = start + step * stride
        m = n // r
        if m < y.shape[0]:
            for k in range(mix.shape[0]):
                w0 = mix[k]
                for c in range(columns):
                    y[m, c] += w0 * state[k, c]
        if step == steps:
            break
        for i in range(turn.shape[0]):
            a, b = turn[i, 0], turn[i, 1]
            for c in range(columns):
                re, im = state[2 * i, c], state[2 * i + 1, c]
                state[2 * i, c] = a * re - b * im
                state[2 * i + 1, c] = a * im + b * re
        if stride < 0:
            n += 1 - r
        # Four rows at a time load and store the state less often; the inner loops vectorise.
        for k in range(mix.shape[0]):
            for j in range(0, fours, 4):
                w0, w1 = weights[k, j], weights[k, j + 1]
                w2, w3 = weights[k, j + 2], weights[k, j + 3]
                for c in range(columns):
                    state[k, c] += (
                        w0 * x[n + j, c]
                        + w1 * x[n + j + 1, c]
                        + w2 * x[n + j + 2, c]
                        + w3 * x[n + j + 3, c]
                    )
            for j in range(fours, r):
                w0 = weights[k, j]
                for c in range(columns):
                    state[k, c] += w0 * x[n + j, c]


@lru_cache(maxsize=256)
def stages(factor: int) -> tuple[int, ...]:
    """
    Split a factor into the fewest stages of at most 13 each, the most even ones, largest first.

    A prime factor above 13 stays a stage of its own.
    """
    if factor != int(factor) or factor < 1:
        raise OptionError(
            f'decimation must be a whole number of at least 1, got {factor!r}', code='not_whole'
        )
    small, rest = 1, int(factor)
    for prime in (2, 3, 5, 7, 11, 13):
        while rest % prime == 0:
            small, rest = small * prime, rest // prime
    large = []
    divisor = LARGEST_STAGE + 1
    while rest > 1:
        if divisor * divisor > rest:
            divisor = rest
        while rest % divisor == 0:
            large.append(divisor)
            rest //= divisor
        divisor += 1
    return tuple(sorted((*large, *_even_split(small)), reverse=True))


@lru_cache(maxsize=1024)
def _even_split(factor: int) -> tuple[int, ...]:
    """Split a factor that has no prime above 13."""
    if factor <= LARGEST_STAGE:
        return (factor,) if factor > 1 else ()
    splits = [
        tuple(sorted((first, *_even_split(factor // first)), reverse=True))
        for first in range(2, LARGEST_STAGE + 1)
        if factor % first == 0
    ]
    return min(splits, key=lambda split: (len(split), split))


@dataclass(frozen=True)
class Stage:
    """
    The zero-phase Chebyshev filter of one stage as a sum over its poles.

    :param factor: n_d, one sample of n_d is kept.
    :param reach: samples on either side that the filter sees.
    :param centre: weight of the kept sample itself.
    :param mix: (8,) weights of the real and imaginary parts of the four pole sums.
    :param turn: (4, 2) real and imaginary part of p_i^n_d.
    :param tail: (8, reach) real and imaginary parts of p_i^k, k = 1 .. reach.
    :param far: (8,) the sum of p_i^k over all k > reach.
    """

    factor: int
    reach: int
    centre: float
    mix: Array
    turn: Array
    tail: Array
    far: Array

    def outside(self, beyond: Array, inner: int = 0) -> Array:
        """
        Return the pole sums over the samples beyond an end of the data, seen from `inner` inside.

        :param beyond: (P, C) samples outside, nearest first; the last one stays on for ever.
        :param inner: number of samples between the observer and the first one outside.
        :returns: (8, C).
        """
        count = min(beyond.shape[0], max(self.reach - inner, 0))
        sums = self.tail[:, inner : inner + count] @ beyond[:count]
        if count < self.reach - inner and count:
            rest = self.tail[:, inner + count :].sum(axis=1) + self.far
            sums += rest[:, None] * beyond[count - 1]
        return sums


@lru_cache(maxsize=64)
def design(factor: int) -> Stage:
    """Return the filter of one stage; its residues are taken at the poles, in factored form."""
    zeros, poles, gain = chebyshev(ORDER, RIPPLE_DB, 0.8 / factor)
    upper = poles[poles.imag > 0]

    def transfer(z: complex) -> complex:
        return complex(gain * np.prod(z - zeros) / np.prod(z - poles))

    c = np.array(
        [
            gain * np.prod(p - zeros) / np.prod(p - poles[poles != p]) * transfer(1 / p) / p
            for p in upper
        ]
    )
    delta = float((gain * transfer(0.0)).real)
    reach = ceil(log(NEGLIGIBLE) / log(float(np.abs(upper).max())))
    powers = upper[:, None] ** np.arange(1, reach + 1)
    far = powers[:, -1] * upper / (1 - upper)
    return Stage(
        factor=factor,
        reach=reach,
        centre=delta + 2 * float(c.real.sum()),
        mix=_interleave(2 * c.real, -2 * c.imag),
        turn=np.stack([(upper**factor).real, (upper**factor).imag], axis=1),
        tail=_interleave(powers.real, powers.imag),
        far=_interleave(far.real, far.imag),
    )


def decimate(x: Array, factor: int, axis: int = 0, even: bool = False) -> Array:
    """
    Low-pass filter without phase shift and keep one sample in `factor`, the first one included.

    The ends are extended by point reflection over the reach of the filter. The operation is
    linear, so Y = W chi holds after it exactly as before, also near the ends. The filter passes
    constants with the gain of Matlab's `decimate`, 10^(-0.1/20) = 0.9886 for each stage.

    :param x: samples along `axis`, any number of columns.
    :param factor: n_d; large ones are handled in stages of at most 13.
    :param even: mirror the ends instead, x[-k] = x[k]. A point reflection 2 x[0] - x[k] keeps the
        slope of a signal, but hangs on the noise of one sample; equations, where the same is done
        to both sides, need no slope.
    :returns: the samples 0, n_d, 2 n_d ... along `axis`.
    """
    x = np.asarray(x, dtype=np.float64)
    split = stages(factor)
    if not split:
        return x.copy()
    moved = np.moveaxis(x, axis, 0)
    if moved.shape[0] < 2:
        raise OptionError(
            f'cannot decimate {moved.shape[0]} sample(s) by {factor}', code='too_short'
        )
    y = np.ascontiguousarray(moved).reshape(moved.shape[0], -1)
    for number in split:
        if y.shape[0] < 2:
            raise OptionError(f'cannot decimate {moved.shape[0]} samples by {factor}: too few')
        stage = design(number)
        before = stage.outside(_reflection(y, stage.reach, even))
        after = _seen_from_last(y, stage, _reflection(y[::-1], stage.reach, even))
        y = _filter(y, stage, before, after, kept=-(-y.shape[0] // number))
    return np.moveaxis(y.reshape((y.shape[0],) + moved.shape[1:]), 0, axis)


class Decimator:
    """
    The same decimation for data that arrive in blocks, so that W is never held whole.

    `push` gives the samples that are final by now, `finish` the rest; put together they are what
    `decimate` gives for the whole. A few thousand rows wait inside until the filter has seen
    what follows them.

    :param factor: n_d, as for `decimate`.
    :param even: as for `decimate`.
    """

    def __init__(self, factor: int, even: bool = False) -> None:
        self._stages = [_StageStream(design(number), even) for number in stages(factor)]
        self._columns = 0

    def push(self, block: Array) -> Array:
        """Take the next rows (N, C) and return the kept rows (M, C) that are ready, maybe none."""
        self._columns = block.shape[1]
        return self._pass_on(np.ascontiguousarray(block, dtype=np.float64), last=False)

    def finish(self) -> Array:
        """Return the kept rows that were still waiting."""
        return self._pass_on(None, last=True)

    def _pass_on(self, rows: Array | None, last: bool) -> Array:
        for stream in self._stages:
            rows = stream.push(rows, last)
        return np.empty((0, self._columns)) if rows is None else rows


class _StageStream:
    """One stage of a Decimator: the rows that wait, and the pole sums of those that went."""

    def __init__(self, stage: Stage, even: bool) -> None:
        self.stage = stage
        self.even = even
        self.rows: Array | None = None
        self.before: Array | None = None

    def push(self, block: Array | None, last: bool) -> Array | None:
        if block is not None:
            self.rows = block if self.rows is None else np.concatenate([self.rows, block])
        rows, stage = self.rows, self.stage
        if rows is None:
            return None
        if self.before is None and (last or rows.shape[0] > stage.reach):
            if rows.shape[0] < 2:
                raise OptionError(f'cannot decimate {rows.shape[0]} sample(s) by {stage.factor}')
            self.before = stage.outside(_reflection(rows, stage.reach, self.even))
        # The last reach + 1 rows stay for the reflection at the end of the run.
        ready = rows.shape[0] if last else rows.shape[0] - stage.reach - 1
        if ready <= 0 or self.before is None:
            return rows[:0]
        kept = -(-ready // stage.factor)
        after = _seen_from_last(
            rows, stage, _reflection(rows[::-1], stage.reach, self.even) if last else None
        )
        y = _filter(rows, stage, self.before, after, kept)
        self.rows = rows[kept * stage.factor :].copy()
        return y


def _reflection(rows: Array, reach: int, even: bool) -> Array:
    """Return the rows before the first one, nearest first: 2 x[0] - x[k], or x[k] where even."""
    mirrored = rows[1 : min(reach, rows.shape[0] - 1) + 1]
    return mirrored if even else 2 * rows[0] - mirrored


def _seen_from_last(rows: Array, stage: Stage, beyond: Array | None) -> Array:
    """Return the pole sums over what follows the last multiple of n_d in rows, and beyond them."""
    follow = rows.shape[0] - 1 - (rows.shape[0] - 1) // stage.factor * stage.factor
    sums = stage.tail[:, :follow] @ rows[rows.shape[0] - follow :]
    if beyond is not None:
        sums += stage.outside(beyond, inner=follow)
    return sums


def _filter(rows: Array, stage: Stage, before: Array, after: Array, kept: int) -> Array:
    """
    Return the first `kept` outputs of a stage; `before` is moved on to the row after them.

    :param rows: (N, C) samples; the first one is kept.
    :param before: (8, C) pole sums over what precedes row 0; updated in place.
    :param after: (8, C) pole sums over what follows the last multiple of n_d; used up.
    """
    # Imported here: numba takes a second to load, and reading or writing recordings needs none.
    from robot_id.data.signals.decimation import sweep

    r = stage.factor
    y = stage.centre * rows[: (kept - 1) * r + 1 : r]
    # Forward in time: from row n to n + r the row n + j gets the weight p^(r - j).
    steps = kept if kept * r <= rows.shape[0] else kept - 1
    ahead = np.ascontiguousarray(stage.tail[:, r - 1 :: -1])
    sweep(rows, 0, r, steps, ahead, stage.turn, stage.mix, before, y)
    # Backward: from row n to n - r the row n - r + j gets the weight p^j.
    last = (rows.shape[0] - 1) // r
    back = np.ascontiguousarray(stage.tail[:, :r])
    sweep(rows, last * r, -r, last, back, stage.turn, stage.mix, after, y)
    return y


def _interleave(real: Array, imaginary: Array) -> Array:
    """Return rows real_1, imaginary_1, real_2 ..."""
    return np.ascontiguousarray(
        np.stack([real, imaginary], axis=1).reshape((2 * real.shape[0],) + real.shape[1:])
    )
