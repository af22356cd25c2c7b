"""Do the intervals cover the truth? Many simulated experiments, every method on each of them."""
