"""From a Dataset to W and Y, and from W and Y to a solution: the one place that does either."""
