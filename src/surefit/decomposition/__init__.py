"""Decomposition: directions that carry the variance of the rows."""
