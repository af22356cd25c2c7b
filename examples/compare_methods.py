# %% [markdown]
"""
Several methods on the same data
================================

Methods are names, or objects with options; distances are in standard deviations of both.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import robot_id as rid

robot = rid.load_robot('emps')
data = rid.simulate(robot, seed=1)
fits = [
    rid.identify(robot, data, method=method)
    for method in (rid.IdimWls(), rid.IdimOls(cutoff_hz=30.0), rid.IdimIrls())
]
print(rid.compare(*fits))

# %% [markdown]
# Each parameter in percent of the first method's value, with its 95 % interval. The
# offset is zero within its interval, which leaves the picture.

# %%
first = fits[0].parameters.values_array
place = np.arange(len(first))
for k, fit in enumerate(fits):
    values, half = fit.parameters.values_array, 1.96 * fit.parameters.std
    plt.errorbar(
        place + 0.1 * k, 100 * values / first, 100 * half / abs(first), fmt='o', label=fit.method
    )
plt.xticks(place, fits[0].parameters.names)
plt.ylabel(f'percent of {fits[0].method}')
plt.ylim(98, 102)
plt.legend()

# %% [markdown]
# All methods, in one line each.

# %%
print(rid.methods())
