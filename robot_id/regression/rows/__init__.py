"""From a Dataset to the rows of W and Y, and the torques that parameters predict on them."""
