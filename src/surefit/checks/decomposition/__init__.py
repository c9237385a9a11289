"""Checks of matrix decompositions."""
