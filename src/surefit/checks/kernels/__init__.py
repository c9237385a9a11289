"""Checks of kernel machines, and kernel values with their rounding errors."""
