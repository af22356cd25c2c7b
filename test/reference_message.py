"""Messages of a reference without ROS: the fields that the library reads."""

from types import SimpleNamespace


def point(stamp, q, dq=0.0, ddq=0.0):
    """Return the fields of a trajectory_msgs/JointTrajectory of one point."""
    return SimpleNamespace(
        header=SimpleNamespace(stamp=time_of(stamp)),
        joint_names=['carriage'],
        points=[
            SimpleNamespace(
                positions=[q], velocities=[dq], accelerations=[ddq], time_from_start=time_of(0)
            )
        ],
    )


def time_of(ns):
    """Return the fields of a builtin_interfaces/Time."""
    return SimpleNamespace(sec=ns // 10**9, nanosec=ns % 10**9)
