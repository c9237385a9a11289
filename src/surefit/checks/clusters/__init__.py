"""Checks of clusterings and mixture models."""
