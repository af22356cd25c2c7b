"""Quality of service of every topic."""

from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile, ReliabilityPolicy

DEPTH = 10

# What we publish: reliable, so that a best-effort reader and a reliable one both get it.
STREAM = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=DEPTH, reliability=ReliabilityPolicy.RELIABLE
)
# In lock-step nothing waits for subscribers that only listen: a longer history lets them fall
# behind.
LOCK_STEP = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1000, reliability=ReliabilityPolicy.RELIABLE
)
# Requests of many clients at once: by default the eleventh would push out the first.
SERVICE = QoSProfile(
    history=HistoryPolicy.KEEP_LAST, depth=1000, reliability=ReliabilityPolicy.RELIABLE
)
# The last message is kept for late subscribers.
LATCHED = QoSProfile(
    history=HistoryPolicy.KEEP_LAST,
    depth=1,
    reliability=ReliabilityPolicy.RELIABLE,
    durability=DurabilityPolicy.TRANSIENT_LOCAL,
)
