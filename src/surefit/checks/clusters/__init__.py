"""Checks partitions and mixtures."""
