"""Starting weights and their random stream."""

from __future__ import annotations

import math

import numpy as np
from sklearn.utils import check_random_state

from surefit.solvers.networks.architecture import Architecture


def random_stream(random_state) -> np.random.RandomState:
    """Return a RandomState for any allowed ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    return check_random_state(random_state)


def starting_point(architecture: Architecture, activation: str, random: np.random.RandomState, dtype) -> np.ndarray:
    r"""Draw free parameters uniformly from :math:`\pm\sqrt{c / (\text{links in} + \text{links out})}` (Glorot and Bengio).

    The constant is :math:`c = 2` for sigmoids with limits 0 and 1, and 6 otherwise. Links are counted per unit, so a
    unit with a small window starts with larger weights. Weights and then biases are drawn layer by layer, as in
    scikit-learn.
    """
    factor = 2.0 if activation in ("logistic", "cauchy_cdf", "normal_cdf") else 6.0
    weights, biases = [], []
    for k, table in enumerate(architecture.tables):
        below, above = architecture.shape(k)
        links = below * above if table is None else int(np.sum(table >= 0))
        bound = math.sqrt(factor / (links / above + links / below))
        shape = (below, above) if table is None else (architecture.weights_of(k),)
        weights.append(random.uniform(-bound, bound, shape).ravel())
        biases.append(random.uniform(-bound, bound, above))
    return np.concatenate([*weights, *biases]).astype(dtype)
