"""Checkers of decompositions."""
