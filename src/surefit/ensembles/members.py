"""Members of an ensemble: copies of a base estimator with seeds of their own, and what they say in codes."""

from __future__ import annotations

import numpy as np
from sklearn.base import clone
from sklearn.utils import check_random_state

MOST_SEEDS = np.iinfo(np.int32).max


def seeded_copy(estimator, random: np.random.RandomState):
    """Return a clone whose ``random_state`` parameters, nested ones too, are integers drawn from ``random``."""
    member = clone(estimator)
    names = sorted(
        name for name in member.get_params(deep=True) if name == "random_state" or name.endswith("__random_state")
    )
    return member.set_params(**{name: int(random.randint(MOST_SEEDS)) for name in names}) if names else member


def said_codes(member, X, classes: np.ndarray) -> np.ndarray:
    """Places among ``classes`` of the labels that a member predicts."""
    return np.searchsorted(classes, member.predict(X)).astype(np.int16)


def random_stream(random_state) -> np.random.RandomState:
    """Return scikit-learn's kind of stream; a Generator seeds one."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(int(random_state.integers(MOST_SEEDS)))
    return check_random_state(random_state)
