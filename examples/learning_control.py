# %% [markdown]
"""
Computed torque that learns
===========================

A controller starts from poor values and repeats a motion. After every cycle ILIC fits the
parameters to the last window, and the tracking error falls.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import robot_id as rid
from robot_id.dynamics import Disturbances
from robot_id.tasks import run_ilic
from robot_id.trajectory import emps_cycle

robot = rid.load_robot('emps')
noise = Disturbances.of_robot(robot)
run = run_ilic(robot, robot.truth(), emps_cycle(), cycles=4, disturbances=noise)

# %% [markdown]
# What the controller uses in each cycle; the first one has the a priori values.

# %%
print('cycle', *(f'{name:>8}' for name in robot.base.names))
for k, cycle in enumerate(run.cycles):
    print(f'{k + 1:5d}', *(f'{value:8.3f}' for value in cycle.parameters))
print('truth', *(f'{value:8.3f}' for value in robot.truth()))

# %% [markdown]
# An update is taken only where its standard deviation is small enough.

# %%
for update in run.updates:
    print('accepted' if update.accepted else f'refused: {update.reason}')

# %% [markdown]
# ||reference - position|| / ||position|| of every cycle.

# %%
plt.semilogy(np.arange(1, 5), run.tracking_errors, 'o-')
plt.xlabel('cycle')
plt.ylabel('tracking error')
plt.xticks(range(1, 5))
