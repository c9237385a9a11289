"""Regression of several targets whose coefficients have a common support."""
