"""The supervisor of every mode: limits, soft start, commissioning, rate, loop margin."""
