"""Fits of each family to partitioned rows: the problem from the parameters, passes for its solver, then the claims of one machine."""
