"""What stands where in the arrays of the supervisor."""

# What was violated.
(
    FINE, POSITION, VELOCITY, ACCELERATION, TRACKING, SATURATION, POWER, SIGN, GAIN, GRAVITY,
    START,
) = range(11)  # fmt: skip
# Rows of the state (STATE_ROWS, n); the first ones are forgotten by a pause.
(
    BEFORE, BEFORE_THAT, SENT, SENT_BEFORE, SPEED, MOVED_1, MOVED, LEFT_1, LEFT, ACCELERATED_1,
    ACCELERATED, MEAN_U, MEAN_V, UU, VV, UV, NOISE, SATURATED_S, WORK, FAST_COUNT, FAR_COUNT,
    HARD_COUNT, GOOD_COUNT, BAD_COUNT, MIDDLE,
    ALLOWED, AGREED, SEEN, RAW_SPEED, GAIN_SEEN,
) = range(30)  # fmt: skip
STATE_ROWS, FORGOTTEN = 30, 25
# Rows of the bounds (BOUND_ROWS, n).
(
    LOWER, UPPER, LARGEST_SPEED, LARGEST_ACCELERATION, LARGEST_ERROR, LIMIT, START_ERROR,
    START_ACCELERATION, FRICTION,
) = range(9)  # fmt: skip
BOUND_ROWS = 9
# Scalars: samples since the last pause, moments of the gravity, its counters, and the options.
(
    SAMPLES, GG, GR, RR, GRAVITY_COUNT, HELD_S, GRAVITY_SEEN, FILTER_S, WINDOW_S, SATURATION_S,
    RAMP_S, SHARE, APPLIED, STOPPING,
) = range(14)  # fmt: skip
SCALARS = 14
