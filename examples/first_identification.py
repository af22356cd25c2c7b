"""
First identification
====================

From a recording to a judged model: the simulated SCARA moves, its parameters are identified, and
the model predicts a motion that it has not seen.
"""

# %%
# A robot by its name; your own is `rid.load_robot('arm.urdf')`.
import robot_id as rid

robot = rid.load_robot('scara')
data = rid.simulate(robot, seed=1)
print(data)

# %%
# What looks wrong before any fit?
print(rid.check(robot, data))

# %%
# Identify: the verdict says whether the model may be used.
fit = rid.identify(robot, data)
print(fit)

# %%
# Predict the torques of another motion.
other = rid.simulate(robot, seed=2, seconds=5)
print(fit.validate(other))

# %%
# Measured and predicted torque, and the residual.
fit.plot_torques()
