"""Checks of discriminants: rules, directions and Gaussian densities, from the scatter matrices of the rows."""
