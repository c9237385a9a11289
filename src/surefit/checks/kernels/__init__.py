"""Checks of kernel machines, and kernel values with their rounding errors."""

from surefit.checks.kernels import rules

__all__ = ["rules"]
