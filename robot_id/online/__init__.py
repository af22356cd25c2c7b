"""On-line identification: recursive estimators, identifiability supervision, ILIC."""
