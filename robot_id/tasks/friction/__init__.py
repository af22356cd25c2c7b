"""Friction terms: chosen, prepared and completed around a fit."""
