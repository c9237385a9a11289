"""Checks smoothing splines."""
