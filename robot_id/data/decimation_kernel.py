"""The inner loop of parallel decimation."""

from robot_id.kernel_cache import njit


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
