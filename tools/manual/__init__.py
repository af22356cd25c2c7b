"""The blocks of the manual that are run: found, run in a folder, and compared with what is printed."""
