"""Nearest-neighbor methods."""
