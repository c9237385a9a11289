"""How Numba compiles: parts linked into callers, and a notice when it takes long."""
