"""Shared by the ROS nodes: base classes, messages, quality of service, launch support."""
