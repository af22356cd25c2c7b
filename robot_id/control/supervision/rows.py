"""What stands where in the arrays of the supervisor."""

# What was violated.
(
    FINE, POSITION, VELOCITY, ACCELERATION, TRACKING, SATURATION, POWER, SIGN, GAIN, GRAVITY,
    START,
) = range(11)  # fmt: skip
# Rows of the state (STATE_ROWS, n); the first ones are forgotten by a pause.
(
    BEFORE, LAST_STEP, SENT, SENT_BEFORE, SPEED_1, SPEED_2, CALM_SPEED, SPEED, SLOW_SPEED,
    MOVED_1, MOVED, LEFT_1, LEFT, MEAN_U, MEAN_V, UU, VV, UV, NOISE, SATURATED_S, WORK, FAR_COUNT,
    GOOD_COUNT, BAD_COUNT, MIDDLE, OWN_1, OWN, MEAN_OWN, UO,
    ALLOWED, AGREED, SEEN, GAIN_SEEN, BEHIND,
) = range(34)  # fmt: skip
STATE_ROWS, FORGOTTEN = 34, 29
# Rows of the bounds (BOUND_ROWS, n).
(
    LOWER, UPPER, LARGEST_SPEED, LARGEST_ACCELERATION, LARGEST_ERROR, LIMIT, START_ERROR,
    START_ACCELERATION, FRICTION,
) = range(9)  # fmt: skip
BOUND_ROWS = 9
# Scalars: samples since the last pause, seconds of the last step, moments of the gravity, its
# counters, the share of it that is sent, and the options.
(
    SAMPLES, STEP_S, GG, GR, RR, GRAVITY_COUNT, HELD_S, GRAVITY_SEEN, SINK_COUNT, CARRIED,
    FILTER_S, WINDOW_S, SATURATION_S, RAMP_S, SHARE, APPLIED, STOPPING, SWINGS,
) = range(18)  # fmt: skip
SCALARS = 18
