"""Partitioning estimators, which are constant on the cells of a partition, and their consistency."""
