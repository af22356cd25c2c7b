# %% [markdown]
"""
Identify a payload
==================

Mass, centre and inertia of a load, each with its interval, from a recording with the load and one
without it.
"""

# %%
import matplotlib.pyplot as plt

import robot_id as rid

robot = rid.load_robot('tx40')
empty = rid.simulate(robot, seed=1, seconds=10)

# %% [markdown]
# The same arm with 1.5 kg at 5 cm in front of the last link's frame: mass, centre, inertia.

# %%
load = (1.5, 0.0, 0.01, 0.05, 0.003, 0.0, 0.0, 0.003, 0.0, 0.002)
with_load = rid.simulate(robot, seed=2, seconds=10, payload=load)
found = rid.identify_payload(robot, with_load, empty)
print(found)

# %% [markdown]
# What the load adds to the torque of the third joint: measured, and explained by the load.

# %%
torques = found.loads[0].torques
plt.plot(torques.measured[:, 2], linewidth=3, alpha=0.5, label='measured')
plt.plot(torques.predicted[:, 2], linewidth=1, label='explained by the load')
plt.xlabel('row of the fit')
plt.ylabel('torque of the load [N.m]')
plt.legend()
