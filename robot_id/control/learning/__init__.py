"""ILIC: the moving window, its least squares, and the process that it runs in."""
