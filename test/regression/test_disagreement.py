"""Two estimates from the same data that differ by more than chance: one of them is biased."""

import numpy as np

from robot_id.regression.uncertainty.disagreement import bias_covariance


def test_what_chance_explains_adds_nothing_and_the_rest_adds_itself():
    other = np.array([1.0, 2.0, 3.0, 4.0])
    deviations = np.array([0.1, 0.2, 0.1, np.nan])
    chi = other + [0.09, 0.5, -0.3, 9.0]
    added = bias_covariance(chi, other, np.diag(deviations**2))
    expected = [0.0, 0.5**2 - 0.2**2, 0.3**2 - 0.1**2, 0.0]
    np.testing.assert_allclose(np.diag(added), expected, atol=1e-12)
    # Biases of one estimate belong together.
    assert added[1, 2] == -np.sqrt(added[1, 1] * added[2, 2])
