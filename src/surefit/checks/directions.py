"""Directions that anybody can draw again: signs from a counter, the same on every machine."""

import numpy as np


def sign_direction(seed: int, size: int) -> np.ndarray:
    """Return a vector of +-1, divided by its length.

    Examples
    --------
    >>> from surefit.checks.directions import sign_direction
    >>> sign_direction(3, 4)
    array([-0.5,  0.5, -0.5,  0.5])
    """
    with np.errstate(over="ignore"):
        z = np.arange(size, dtype=np.uint64) + np.uint64((seed + 1) * 0x9E3779B97F4A7C15 % 2**64)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z ^= z >> np.uint64(31)
    return np.where(z & np.uint64(1), 1.0, -1.0) / np.sqrt(size)
