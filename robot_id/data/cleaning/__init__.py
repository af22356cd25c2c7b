"""From raw stamped samples to sound ones: clock, gaps, wrap-around, clipping, repairs."""
