"""
Monte-Carlo on Dask
===================

Does the printed standard deviation cover? Twenty recordings with different noise, identified in
parallel; about 95 % of the intervals must hold the truth.
"""

# %%
import dask
import numpy as np

import robot_id as rid


@dask.delayed
def distances(seed: int) -> np.ndarray:
    """Return the error of each parameter in standard deviations."""
    robot = rid.load_robot('emps')
    fit = rid.identify(robot, rid.simulate(robot, seed=seed), holdout=0.0, check=False)
    return np.abs(fit.parameters.values_array - robot.truth()) / fit.parameters.std


# %%
found = dask.compute(*[distances(seed) for seed in range(20)], scheduler='threads', num_workers=2)
print(f'within 1.96 standard deviations: {100 * np.mean(np.array(found) < 1.96):.0f} %')
