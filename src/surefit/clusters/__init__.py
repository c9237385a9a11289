"""Clusters: partitions of the rows into groups, and mixtures of Gaussians."""
