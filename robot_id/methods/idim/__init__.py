"""Identification by the inverse model: OLS, WLS, IRLS, TLS, maximum likelihood."""
