"""Checks of Gaussian processes."""
