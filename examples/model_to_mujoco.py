# %% [markdown]
"""
A physically consistent model for MuJoCo
========================================

The nearest parameters that a robot can have are written as MJCF; the file is read back and
compared before it is put in place.
"""

# %%
import tempfile
from pathlib import Path

import robot_id as rid

robot = rid.load_robot('scara')
fit = rid.identify(robot, rid.simulate(robot, seed=1), physical=True)

# %%
with tempfile.TemporaryDirectory() as folder:
    for line in fit.export(Path(folder) / 'scara.xml'):
        print(line)
