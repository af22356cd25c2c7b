"""The blocks of the manual that are run: found, run, and compared with what the pages show."""
