"""Checks feed-forward networks."""
