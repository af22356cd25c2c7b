"""`python3 tools/setup`: bring up .venv with all that robot_id needs, or say what is missing."""

import sys

# The first lines run on any Python 3, so that an old one gets a sentence and not a traceback.
OLDEST, NEWEST = (3, 10), (3, 14)

if not OLDEST <= sys.version_info[:2] <= NEWEST:
    sys.exit(
        'setup: robot_id needs Python {}.{} to {}.{}, but {} is Python {}.{}; install one of them '
        'and name it: make PYTHON=python3.11'.format(
            *OLDEST, *NEWEST, sys.executable, *sys.version_info[:2]
        )
    )

from steps import main  # noqa: E402

main()
