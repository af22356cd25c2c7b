"""The public Python API; `import robot_id` offers these names."""
