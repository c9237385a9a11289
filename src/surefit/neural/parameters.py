"""Parameters of the two network estimators, their rules, and the architecture that they describe."""

from __future__ import annotations

import numbers
from itertools import pairwise

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import (
    BOOLEAN,
    COUNT,
    FRACTION,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    RANDOM_STATE,
    Rule,
    one_of,
)
from surefit.solvers.networks.activations import ACTIVATIONS, TRAINABLE
from surefit.solvers.networks.architecture import Architecture, read_table


def _is_size(value) -> bool:
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_)) and int(value) >= 1


def _are_sizes(value) -> bool:
    return not isinstance(value, (str, bytes)) and hasattr(value, "__len__") and all(_is_size(size) for size in value)


_BELOW_ONE = Rule("a number >= 0 and < 1", lambda v: FRACTION.allows(v) and v < 1)
_VERBOSE = BOOLEAN | Rule("an integer >= 0", lambda v: isinstance(v, numbers.Integral) and int(v) >= 0)

RULES = {
    "hidden_layer_sizes": Rule("an integer >= 1, or a list of integers >= 1", lambda v: _is_size(v) or _are_sizes(v)),
    "activation": one_of(*ACTIVATIONS),
    "solver": one_of("adam", "sgd", "lbfgs", "gd"),
    "alpha": NON_NEGATIVE,
    "batch_size": one_of("auto") | COUNT,
    "learning_rate": one_of("constant", "invscaling", "adaptive"),
    "learning_rate_init": POSITIVE,
    "power_t": NON_NEGATIVE,
    "max_iter": COUNT,
    "shuffle": BOOLEAN,
    "random_state": RANDOM_STATE,
    "tol": NON_NEGATIVE,
    "verbose": _VERBOSE,
    "warm_start": BOOLEAN,
    "momentum": FRACTION,
    "nesterovs_momentum": BOOLEAN,
    "early_stopping": BOOLEAN,
    "validation_fraction": _BELOW_ONE,
    "beta_1": _BELOW_ONE,
    "beta_2": _BELOW_ONE,
    "epsilon": POSITIVE,
    "n_iter_no_change": COUNT | Rule("infinity", lambda v: isinstance(v, float) and v == np.inf),
    "max_fun": COUNT,
    "links": NOTHING | Rule("a list of link tables", lambda v: hasattr(v, "__len__") and not isinstance(v, str)),
    "polish": BOOLEAN,
    "max_time": NOTHING | POSITIVE,
}


def hidden_sizes(estimator) -> list[int]:
    """Return the sizes of the hidden layers as a list."""
    given = estimator.hidden_layer_sizes
    return [int(given)] if _is_size(given) else [int(size) for size in given]


def architecture_of(estimator, n_features: int, n_outputs: int) -> Architecture:
    """Return the architecture that the parameters describe for a given number of columns."""
    who = type(estimator).__name__
    sizes = (int(n_features), *hidden_sizes(estimator), int(n_outputs))
    shapes = list(pairwise(sizes))
    links = [None] * len(shapes) if estimator.links is None else list(estimator.links)
    if len(links) != len(shapes):
        raise InvalidParameter(who, "links", f"a list of {len(shapes)} tables, one per layer", f"{len(links)} tables")
    return Architecture(
        sizes,
        tuple(read_table(who, table, shape, k) for k, (table, shape) in enumerate(zip(links, shapes, strict=True))),
    )


def require_trainable(estimator) -> None:
    """Raise ``InvalidParameter`` for activations without a useful gradient."""
    if estimator.activation not in TRAINABLE:
        raise InvalidParameter(
            type(estimator).__name__,
            "activation",
            f"one with a gradient ({', '.join(TRAINABLE)}) for training; others can be set after the fit, for prediction",
            estimator.activation,
        )
