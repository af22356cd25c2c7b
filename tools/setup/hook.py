"""
Installed into .venv as robot_id_environment and run at every start of its Python.

It gives the process what sourcing a ROS 2 set-up file would have given, from the file
`robot_id_environment.json` in the prefix. The loader reads LD_LIBRARY_PATH only when a process
begins, so Python is executed once more when a folder was missing there.
"""

import json
import os
import sys

MARK = '_ROBOT_ID_ENVIRONMENT'


def missing(environment, remembered):
    """Return the variables that differ from what the prefix needs, with their new values."""
    changes = {}
    for name, folders in remembered['paths'].items():
        present = [folder for folder in environment.get(name, '').split(os.pathsep) if folder]
        wanted = [folder for folder in folders if folder not in present]
        if wanted:
            changes[name] = os.pathsep.join(wanted + present)
    for name, value in remembered['values'].items():
        if name not in environment:
            changes[name] = value
    return changes


def main():
    """Complete the environment of this process, and begin again where that is the only way."""
    try:
        with open(os.path.join(sys.prefix, 'robot_id_environment.json')) as file:
            remembered = json.load(file)
    except OSError:
        return
    changes = missing(os.environ, remembered)
    os.environ.update(changes)
    again = 'LD_LIBRARY_PATH' in changes or 'PYTHONPATH' in changes
    if again and os.environ.get(MARK) != f'{os.getpid()}' and sys.executable:
        os.environ[MARK] = f'{os.getpid()}'
        os.execv(sys.executable, [sys.executable, *sys.orig_argv[1:]])


if __name__ == 'robot_id_environment':
    main()
