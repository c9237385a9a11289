"""Checks Gaussian processes."""
