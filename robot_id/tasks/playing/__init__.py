"""A motion on a position-controlled robot: plan, executed time, reasons to stop, judgement."""
