"""Checks of smoothing splines."""
