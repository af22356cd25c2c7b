"""From a Dataset to W and Y, and from W and Y to a solution: the only place for both."""
