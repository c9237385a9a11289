"""Clustering: partitions of the rows, and Gaussian mixtures."""
