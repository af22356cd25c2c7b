"""`make fuzz`: damaged and hostile inputs to every reader, verb and option, by seed."""
