"""Checks of feed-forward networks."""
