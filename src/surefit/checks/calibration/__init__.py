"""Checks of maps from scores to probabilities."""
