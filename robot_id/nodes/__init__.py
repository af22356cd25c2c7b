"""ROS 2 nodes, one thin file each: the only room that imports rclpy."""
