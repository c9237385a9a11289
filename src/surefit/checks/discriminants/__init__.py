"""Checks of discriminants: rules, directions and Gaussian densities, from the scatter of the rows."""
