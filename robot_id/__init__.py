"""Dynamic identification of robots: from measurements to a model, from the model to control."""

__version__ = '0.1.0'
