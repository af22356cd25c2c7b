"""Methods that simulate the closed loop: IDIM-IV, DIDIM, CLOE and CLIE."""
