"""Files that describe a robot: YAML, URDF, MDH tables, SDF; read, checked and written."""
