"""Tables and samples for tests of mappings."""

import numpy as np


def table(tmp_path, values, name='log.csv', header=None):
    path = tmp_path / name
    np.savetxt(path, values, delimiter=',', header=header or '', comments='')
    return path


def samples(n=2, N=50):
    rng = np.random.default_rng(0)
    return rng.normal(size=(N, n)), rng.normal(size=(N, n))
