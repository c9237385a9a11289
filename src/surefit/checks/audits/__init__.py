"""Checkers of models that other libraries fitted: readers, views of the claims of our own families, and what these lack."""
