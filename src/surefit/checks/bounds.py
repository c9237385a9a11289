"""Checks of the arithmetic of risk bounds: the claimed value must follow from the counts and the witness arrays.

These functions do not invert tails and do not use ``surefit.bounds``. The counts are those that a checker has derived
from the model and the data.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from surefit.checks.tail_sums import (
    Evidence,
    at_least,
    binomial_tail,
    error_capital,
    log_labelings,
    loss_capital,
    relative_entropy,
    relative_entropy_below,
    stable_sum,
    weakest,
)

Numbers = dict[str, Any]
Confirm = Callable[[float, Numbers, dict[str, np.ndarray]], Evidence]
CONFIRM: dict[str, Confirm] = {}


def confirms(*names: str) -> Callable[[Confirm], Confirm]:
    """Return a decorator that registers a function as the one that confirms the bounds called ``names``."""

    def add(function: Confirm) -> Confirm:
        CONFIRM.update(dict.fromkeys(names, function))
        return function

    return add


def spent(z: Numbers) -> float:
    """Return the share of delta that the bound uses."""
    return float(z["delta_spent"] if "delta_spent" in z else z["delta"])


def log_inverse(z: Numbers) -> float:
    """Return ``ln(1 / delta)`` for the share of delta that is used."""
    return -math.log(spent(z))


@confirms("holdout")
def _holdout(value: Any, z: Any, w: Any) -> Any:
    return binomial_tail(z["errors"], z["n"], value, Fraction(spent(z)))


@confirms("transfer")
def _transfer(value: Any, z: Any, w: Any) -> Any:
    half = Fraction(spent(z)) / 2
    twin = binomial_tail(z["errors"], z["n"], z["twin"], half)
    change = binomial_tail(z["disagreements"], z["n_unlabeled"], z["change"], half)
    return weakest(twin, change, sum_or_one(value, (z["twin"], z["change"])))


@confirms("stable_compression", "pick_to_learn")
def _stable(value: Any, z: Any, w: Any) -> Any:
    needed = math.log(z["n"]) + log_inverse(z) + math.log(z.get("budgets", 1))
    return stable_sum(z["size"], z["n"], value, needed)


@confirms("holdout_loss")
def _holdout_loss(value: Any, z: Any, w: Any) -> Any:
    return relative_entropy(z["empirical"], value, log_inverse(z) / z["n"])


@confirms("progressive_errors")
def _progressive_errors(value: Any, z: Any, w: Any) -> Any:
    return error_capital(z["errors"] / z["n"], value, z["n"], error_rates(z), log_inverse(z))


@confirms("k_fold")
def _k_fold(value: Any, z: Any, w: Any) -> Any:
    return error_capital(z["empirical"], value, z["n"], error_rates(z), log_inverse(z))


@confirms("progressive_losses")
def _progressive_losses(value: Any, z: Any, w: Any) -> Any:
    if z["rate"] is not None:
        rates = np.array([z["rate"]])
    else:
        x = np.geomspace(math.sqrt(8 * log_inverse(z) / z["n"]), math.sqrt(2 * log_inverse(z)), 24)
        rates = x / (1 + x)
    return loss_capital(w["losses"], value, z["start"], rates, log_inverse(z))


def error_rates(z: Numbers) -> np.ndarray:
    """Return the rate chosen by a pilot, or the grid of rates for n and delta."""
    if z.get("rate") is not None:
        return np.array([z["rate"]])
    return np.geomspace(min(1.0, math.sqrt(8 * log_inverse(z) / z["n"])), 8.0, 24)


@confirms("finite_class")
def _finite_class(value: Any, z: Any, w: Any) -> Any:
    log_term = z["log_size"] + math.log(z["sides"]) + log_inverse(z)
    return sum_or_one(value, (z["empirical"], z["width"] * math.sqrt(log_term / (2 * z["n"]))), z["width"])


@confirms("vc")
def _vc(value: Any, z: Any, w: Any) -> Any:
    n, theorem = z["n"], z["theorem"]
    growth = log_labelings(n * (2 if theorem == "double_sample" else 1), z["dimension"], z["form"])
    if theorem == "rademacher":
        return sum_or_one(value, (z["empirical"], math.sqrt(2 * growth / n), math.sqrt(log_inverse(z) / (2 * n))))
    factor, divisor = {"symmetrized": (8, 32), "double_sample": (4, 8)}[theorem]
    radius = math.sqrt(divisor / n * (math.log(factor) + growth + log_inverse(z)))
    return sum_or_one(value, (z["empirical"], radius))


@confirms("vote_first_order")
def _vote_first_order(value: Any, z: Any, w: Any) -> Any:
    return nothing(value) or relative_entropy(z["empirical"], value / 2, pac_bayes(z, z["divergence"]))


@confirms("vote_tandem")
def _vote_tandem(value: Any, z: Any, w: Any) -> Any:
    return nothing(value) or relative_entropy(z["empirical"], value / 4, pac_bayes(z, 2 * z["divergence"]))


@confirms("vote_c_bound")
def _vote_c_bound(value: Any, z: Any, w: Any) -> Any:
    g, d = z["member"], z["disagreement_limit"]
    upper = relative_entropy(z["empirical"], g, pac_bayes(z, z["divergence"], math.log(2)))
    pairs = {**z, "n": z["n_pairs"]}
    lower = relative_entropy_below(z["disagreement"], d, pac_bayes(pairs, 2 * z["divergence"], math.log(2)))
    formula = 1.0 if g >= 0.5 or d >= 0.5 else 1 - (1 - 2 * g) ** 2 / (1 - 2 * d)
    return weakest(upper, lower, sum_or_one(value, (formula,)))


def pac_bayes(z: Numbers, divergence: float, extra: float = 0.0) -> float:
    """Return the bound on the relative entropy in the PAC-Bayes theorem."""
    return (divergence + math.log(2) + 0.5 * math.log(z["n"]) + extra + log_inverse(z)) / z["n"]


def nothing(value: float) -> Evidence | None:
    """Return sufficient evidence for a limit of at least one, which is vacuous for an error rate; otherwise None."""
    return Evidence(math.inf, exact=True) if value >= 1.0 else None


def sum_or_one(value: float, parts: tuple[float, ...], top: float = 1.0) -> Evidence:
    """Check that ``value`` is at least the sum of ``parts``; a value of at least ``top`` is vacuous and holds."""
    return Evidence(math.inf, exact=True) if value >= top else at_least(value, parts)
