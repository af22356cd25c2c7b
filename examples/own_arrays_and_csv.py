# %% [markdown]
"""
Your own csv or arrays
======================

Measurements come as files, arrays, lists or data frames; all are cleaned alike, and what was done
is in the notes.
"""

# %%
import tempfile
from pathlib import Path

import robot_id as rid
from robot_id.data import save

robot = rid.load_robot('emps')
recorded = rid.simulate(robot, seed=1).runs[0]

# %% [markdown]
# A csv with the columns time, position.<joint>, torque.<joint> needs no mapping.

# %%
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / 'run.csv'
    save(rid.simulate(robot, seed=1), path)
    print(path.read_text().splitlines()[0])
    from_file = rid.load(path, robot=robot)
print(f'{len(from_file)} samples at {from_file.rate:g} Hz')

# %% [markdown]
# Arrays: samples are rows. A gap of two seconds splits the recording.

# %%
time = recorded.time.copy()
time[len(time) // 2 :] += 2.0
data = rid.Dataset.from_arrays(time=time, position=recorded.position, torque=recorded.torque)
print(data.notes)

# %% [markdown]
# Several recordings are a list.

# %%
fit = rid.identify(robot, [data, rid.simulate(robot, seed=2)])
print(fit.parameters)
