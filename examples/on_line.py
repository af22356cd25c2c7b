"""
On-line identification with supervision
=======================================

Samples are fed as they come; only parameters that the motion shows may move.
"""

# %%
import robot_id as rid

robot = rid.load_robot('scara')
data = rid.simulate(robot, seed=1)
arm = rid.identify(robot, data)

# %%
# The nominal model gives start values and sizes.
live = rid.on_line(robot, rate_hz=data.rate, nominal=arm, low_pass_hz=4.0, every=10)
run = data.runs[0]
for k in range(0, len(run), 1000):
    live.feed(run.position[k : k + 1000], run.torque[k : k + 1000])

# %%
# Ask any time.
for one in live.status().parameters:
    print(f'{one.name:5s} {one.value:9.4f} {one.std:8.2g} {one.state}')
