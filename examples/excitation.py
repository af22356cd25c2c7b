# %% [markdown]
"""
A motion that excites all parameters
====================================

The search stays within the limits of the robot; `trajectory` is the motion to run.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import robot_id as rid

robot = rid.load_robot('scara')
motion = rid.excite(robot, seconds=5.0, evaluations=30, workers=1, rehearse=False)
print(motion.trajectory.kind, len(motion.deviations.identified()), 'parameters below 10 %')

# %% [markdown]
# Positions of both joints.

# %%
time = np.linspace(0.0, motion.trajectory.duration, 500)
position, velocity, acceleration = motion.trajectory.sample(time)
plt.plot(time, position, label=robot.joint_names)
plt.xlabel('time [s]')
plt.ylabel('position [rad]')
plt.legend()

# %% [markdown]
# Run it in simulation, identify, and compare with the motion of the robot file.

# %%
fit = rid.identify(robot, rid.simulate(robot, motion, seed=1, cycles=4))
usual = rid.identify(robot, rid.simulate(robot, seed=1))
print(rid.compare(fit, usual, labels=['excited', 'usual']))
