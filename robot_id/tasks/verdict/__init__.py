"""The verdict on a result: hold-out, contradictions, remaining delay."""
