# %% [markdown]
"""
Monte-Carlo on Dask
===================

Does the printed standard deviation cover? Twenty recordings with different noise, identified in
parallel; about 95 % of the intervals must hold the truth.
"""

# %%
import dask
import matplotlib.pyplot as plt
import numpy as np

import robot_id as rid


@dask.delayed
def distances(seed: int) -> np.ndarray:
    """Return the error of each parameter in standard deviations."""
    robot = rid.load_robot('emps')
    fit = rid.identify(robot, rid.simulate(robot, seed=seed), holdout=0.0, check=False)
    return (fit.parameters.values_array - robot.truth()) / fit.parameters.std


# %%
found = dask.compute(*[distances(seed) for seed in range(20)], scheduler='threads', num_workers=2)
print(f'within 1.96 standard deviations: {100 * np.mean(np.abs(found) < 1.96):.0f} %')

# %% [markdown]
# Where the standard deviations are right, the errors have the normal distribution.

# %%
x = np.linspace(-4, 4, 200)
plt.hist(np.ravel(found), bins=np.linspace(-4, 4, 17), density=True, alpha=0.5)
plt.plot(x, np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi))
plt.xlabel('error / standard deviation')
