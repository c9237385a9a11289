"""Fits of each model family to partitioned rows, with the same problems and claims as on one machine."""
