"""Standard errors of an estimate from its residual."""
