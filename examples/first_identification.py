# %% [markdown]
"""
First identification
====================

From a recording to a judged model: the simulated SCARA moves, its parameters are identified, and
the model predicts a motion that it has not seen.
"""

# %% [markdown]
# A robot by its name; your own is `rid.load_robot('arm.urdf')`.

# %%
import robot_id as rid

robot = rid.load_robot('scara')
data = rid.simulate(robot, seed=1)
print(data)

# %% [markdown]
# What looks wrong before any fit?

# %%
print(rid.check(robot, data))

# %% [markdown]
# Identify: the verdict says whether the model may be used.

# %%
fit = rid.identify(robot, data)
fit

# %% [markdown]
# Predict the torques of another motion.

# %%
other = rid.simulate(robot, seed=2, seconds=5)
fit.validate(other)

# %% [markdown]
# Measured and predicted torque, and the residual.

# %%
fit.plot_torques()
