"""Numbers fast: regressors, inverse and direct dynamics, the closed-loop simulator."""
