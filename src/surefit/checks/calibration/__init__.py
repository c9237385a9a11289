"""Checks of calibration maps from scores to probabilities."""
