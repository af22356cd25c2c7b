# %% [markdown]
"""
On-line identification with supervision
=======================================

Samples are fed as they come; only parameters that the motion shows may move.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import robot_id as rid

robot = rid.load_robot('scara')
data = rid.simulate(robot, seed=1)
arm = rid.identify(robot, data)

# %% [markdown]
# The nominal model gives start values and sizes.

# %%
live = rid.on_line(robot, rate_hz=data.rate, nominal=arm, low_pass_hz=4.0, every=10)
run = data.runs[0]
history = []
for k in range(0, len(run), 500):
    live.feed(run.position[k : k + 500], run.torque[k : k + 500])
    history.append(live.estimate)

# %% [markdown]
# Ask any time.

# %%
for one in live.status().parameters:
    print(f'{one.name:5s} {one.value:9.4f} {one.std:8.2g} {one.state}')

# %% [markdown]
# The way of the estimates, in percent of the identified values.

# %%
seconds = np.arange(1, len(history) + 1) * 500 / data.rate
plt.plot(seconds, 100 * np.array(history) / arm.parameters.values_array)
plt.legend(robot.base.names)
plt.xlabel('time [s]')
plt.ylabel('estimate [%]')
