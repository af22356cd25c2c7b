"""The studio: the whole way from a recording to a model on one local page of the browser."""
