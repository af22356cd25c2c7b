# %% [markdown]
"""
Friction against velocity
=========================

What the rigid model leaves of the torque, and the curve that was fitted to it; `friction='auto'`
chooses the terms by cross-validation.
"""

# %%
import robot_id as rid

robot = rid.load_robot('emps')
fit = rid.identify(robot, rid.simulate(robot, seed=1), friction='auto')
print(fit.result.friction['selection']['reason'])

# %%
fit.plot_friction()
