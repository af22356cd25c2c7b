"""
Several methods on the same data
================================

Methods are names, or objects with options; distances are in standard deviations of both.
"""

# %%
import robot_id as rid

robot = rid.load_robot('emps')
data = rid.simulate(robot, seed=1)
fits = [
    rid.identify(robot, data, method=method)
    for method in (rid.IdimWls(), rid.IdimOls(cutoff_hz=30.0), rid.IdimIrls())
]
print(rid.compare(*fits))

# %%
# All methods, in one line each.
print(rid.methods())
