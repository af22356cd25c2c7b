"""Code made for one robot: the generic kernels traced with symbols and written as C."""
