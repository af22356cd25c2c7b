"""What the ROS nodes share: base classes, messages, quality of service, launch support."""
