"""Off-line estimators: one file per method, one registry, one result type."""
