"""Discriminant analysis: Gaussian classes with linear or quadratic boundaries."""
