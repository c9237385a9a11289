"""Registry of the functions that derive a problem from the parameters of an estimator."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np


class Given(NamedTuple):
    """Everything that a problem may depend on: parameters, training data, and fitted attributes that record choices of the fit."""

    params: Mapping[str, Any]
    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    chosen: Mapping[str, Any]
    kernel: Any = None  # resolved by the fit; None if it is to be derived from the parameters, as in every verification


Poser = Callable[[Given], dict[str, Any]]
PROBLEMS: dict[str, Poser] = {}


def problem_of(*estimators: str) -> Callable[[Poser], Poser]:
    """Register the function that defines the problem of these estimators."""

    def add(poser: Poser) -> Poser:
        PROBLEMS.update(dict.fromkeys(estimators, poser))
        return poser

    return add


def derived(estimator: str, given: Given, model: Any = None) -> dict[str, Any] | None:
    """Return the problem that the parameters of ``estimator`` define, or None if no problem is registered for it."""
    poser = PROBLEMS.get(estimator) if model is None else _poser(model)
    return None if poser is None else poser(given)


def _poser(model: Any) -> Poser | None:
    """Return the function registered for the class of a model or for its nearest base class."""
    return next((PROBLEMS[c.__name__] for c in type(model).__mro__ if c.__name__ in PROBLEMS), None)


def pose(
    estimator: Any, X: Any, y: Any = None, weights: Any = None, *chosen: str, kernel: Any = None
) -> dict[str, Any]:
    """Return the problem of a fit; ``chosen`` names fitted attributes with choices of the fit, such as a cross-validated penalty.

    ``kernel`` is the one that this fit has resolved, if any.
    """
    attributes = {name: np.asarray(getattr(estimator, name)) for name in chosen}
    given = Given(estimator.get_params(deep=False), X, y, weights, attributes, kernel)
    poser = _poser(estimator)
    assert poser is not None, f"{type(estimator).__name__} has no function in surefit.problems"
    return poser(given)
