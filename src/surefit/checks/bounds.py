"""Confirms the arithmetic of every risk bound: the claimed number follows from the stated counts and the witness arrays.

A checker here never inverts a tail and calls nothing of ``surefit.bounds``. It takes counts and assumptions as the claim states
them; that the counts are those of the model on the data is for the checker of the estimator that made the claim.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.tail_sums import (
    Evidence,
    at_least,
    binomial_tail,
    error_capital,
    log_labelings,
    loss_capital,
    normal_cdf,
    relative_entropy,
    relative_entropy_below,
    stable_sum,
    weakest,
)
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

Numbers = dict[str, Any]
Confirm = Callable[[float, Numbers, dict[str, np.ndarray]], Evidence]
CONFIRM: dict[str, Confirm] = {}


def confirms(*names: str) -> Callable[[Confirm], Confirm]:
    """Register the function that confirms the bounds called ``names``."""

    def add(function: Confirm) -> Confirm:
        CONFIRM.update(dict.fromkeys(names, function))
        checker(*(f"bounds.{name}" for name in names))(check_bound)
        return function

    return add


def check_bound(certificate: Certificate | None, claim: Claim, data: Data | None) -> Finding:
    """Confirm the claimed limit; a wrong one is refused with a limit that would have been right."""
    name, z = claim.name.removeprefix("bounds."), claim.numbers
    evidence = CONFIRM[name](claim.value, z, claim.witness)
    stated = claim.confidence is not None and claim.confidence == 1.0 - z["delta"] and 0 < spent(z) <= z["delta"] < 1
    ok = evidence.ok and stated
    proved = claim.value if ok else _first_confirmed(CONFIRM[name], claim)
    message = "the limit follows from the stated counts, if the assumptions hold."
    if not stated:
        message = "confidence and delta do not fit together."
    return Finding(claim.name, claim.value, proved, ok, evidence.level if ok else "recomputed", message)


def spent(z: Numbers) -> float:
    """Return the share of delta that the arithmetic uses."""
    return float(z["delta_spent"] if "delta_spent" in z else z["delta"])


def log_inverse(z: Numbers) -> float:
    """``ln(1 / delta)`` of the share spent."""
    return -math.log(spent(z))


def _first_confirmed(confirm: Confirm, claim: Claim) -> float:
    """Walk upwards from the claim until a limit is confirmed: what an honest claim could have said, roughly."""
    top = max(1.0, float(claim.numbers.get("width", claim.numbers.get("loss_bound", 1.0))))
    for step in range(1, 41):
        value = claim.value + (top - claim.value) * 2.0 ** (step - 40)
        if confirm(value, claim.numbers, claim.witness).ok:
            return value
    return math.inf


@confirms("holdout")
def _holdout(value, z, w):
    return binomial_tail(z["errors"], z["n"], value, Fraction(spent(z)))


@confirms("conformal")
def _conformal(value, z, w):
    return binomial_tail(z["m"] - z["rank"], z["m"], value, Fraction(spent(z)))


@confirms("transfer")
def _transfer(value, z, w):
    half = Fraction(spent(z)) / 2
    twin = binomial_tail(z["errors"], z["n"], z["twin"], half)
    change = binomial_tail(z["disagreements"], z["n_unlabelled"], z["change"], half)
    return weakest(twin, change, _sum_or_one(value, (z["twin"], z["change"])))


@confirms("occam")
def _occam(value, z, w):
    if z["bits"] == int(z["bits"]):
        return binomial_tail(z["errors"], z["n"], value, Fraction(spent(z)) / 2 ** int(z["bits"]))
    return binomial_tail(z["errors"], z["n"], value, math.log(spent(z)) - z["bits"] * math.log(2))


@confirms("sample_compression")
def _sample_compression(value, z, w):
    n, s = z["n"], z["size"]
    if n <= 10_000:
        share: Fraction | float = Fraction(spent(z)) / (n * math.comb(n, s))
    else:
        choose = math.lgamma(n + 1) - math.lgamma(s + 1) - math.lgamma(n - s + 1)
        share = math.log(spent(z)) - math.log(n) - choose
    return binomial_tail(z["errors"], n - s, value, share)


@confirms("stable_compression", "pick_to_learn")
def _stable(value, z, w):
    needed = math.log(z["n"]) + log_inverse(z) + math.log(z.get("budgets", 1))
    return stable_sum(z["size"], z["n"], value, needed)


@confirms("holdout_loss")
def _holdout_loss(value, z, w):
    return relative_entropy(z["empirical"], value, log_inverse(z) / z["n"])


@confirms("empirical_bernstein")
def _empirical_bernstein(value, z, w):
    x = w["losses"]
    mean, n = math.fsum(x) / len(x), len(x)
    variance, log_term = math.fsum((x - mean) ** 2) / (n - 1), math.log(2) + log_inverse(z)
    parts = (mean, math.sqrt(2 * variance * log_term / n), 7 * log_term / (3 * (n - 1)))
    return _sum_or_one(value, parts)


@confirms("progressive_errors")
def _progressive_errors(value, z, w):
    return error_capital(z["errors"] / z["n"], value, z["n"], _rates(z), log_inverse(z))


@confirms("k_fold")
def _k_fold(value, z, w):
    return error_capital(z["empirical"], value, z["n"], _rates(z), log_inverse(z))


@confirms("progressive_losses")
def _progressive_losses(value, z, w):
    if z["rate"] is not None:
        rates = np.array([z["rate"]])
    else:
        x = np.geomspace(math.sqrt(8 * log_inverse(z) / z["n"]), math.sqrt(2 * log_inverse(z)), 24)
        rates = x / (1 + x)
    return loss_capital(w["losses"], value, z["start"], rates, log_inverse(z))


def _rates(z: Numbers) -> np.ndarray:
    """The one rate of a pilot, or the grid that n and delta fix."""
    if z.get("rate") is not None:
        return np.array([z["rate"]])
    return np.geomspace(min(1.0, math.sqrt(8 * log_inverse(z) / z["n"])), 8.0, 24)


@confirms("hoeffding", "sub_gaussian")
def _gaussian(value, z, w):
    radius = math.sqrt(2 * z["variance"] * (math.log(z["sides"]) + log_inverse(z)) / z["n"])
    return _sum_or_one(value, (z["empirical"], radius), z["width"])


@confirms("chebyshev")
def _chebyshev(value, z, w):
    return _sum_or_one(value, (z["empirical"], math.sqrt(z["variance"] / (z["n"] * spent(z)))), z["width"])


@confirms("bernstein")
def _bernstein(value, z, w):
    eps, log_term = value - z["empirical"], math.log(z["sides"]) + log_inverse(z)
    exponent = z["n"] * eps * eps / (2 * (z["variance"] + z["width"] * max(eps, 0.0) / 3)) if eps > 0 else 0.0
    return _sum_or_one(value, (), z["width"]) if value >= z["width"] else at_least(exponent, (log_term,))


@confirms("finite_class")
def _finite_class(value, z, w):
    log_term = z["log_size"] + math.log(z["sides"]) + log_inverse(z)
    return _sum_or_one(value, (z["empirical"], z["width"] * math.sqrt(log_term / (2 * z["n"]))), z["width"])


@confirms("vc")
def _vc(value, z, w):
    n, theorem = z["n"], z["theorem"]
    growth = log_labelings(n * (2 if theorem == "double_sample" else 1), z["dimension"], z["form"])
    if theorem == "rademacher":
        return _sum_or_one(value, (z["empirical"], math.sqrt(2 * growth / n), math.sqrt(log_inverse(z) / (2 * n))))
    factor, divisor = {"symmetrised": (8, 32), "double_sample": (4, 8)}[theorem]
    radius = math.sqrt(divisor / n * (math.log(factor) + growth + log_inverse(z)))
    return _sum_or_one(value, (z["empirical"], radius))


@confirms("pseudo_dimension")
def _pseudo_dimension(value, z, w):
    n, M = z["n"], z["width"]
    capacity = 2 * M * math.sqrt(2 * log_labelings(n, z["dimension"], z["form"]) / n)
    return _sum_or_one(value, (z["empirical"], capacity, M * math.sqrt(log_inverse(z) / (2 * n))), M)


@confirms("margin", "vote_margin")
def _margin(value, z, w):
    m, rho = w["margins"], z["threshold"]
    n, measured = len(m), z.get("trace") is not None
    if measured:
        capacity = math.sqrt(z["trace"]) / n
    else:
        capacity = z["radius"] / math.sqrt(n) if "radius" in z else math.sqrt(2 * z["log_n_base"] / n)
    ramp = math.fsum(np.minimum(1.0, np.maximum(0.0, 1.0 - m / rho))) / n
    log_term = math.log(z["n_thresholds"]) + log_inverse(z) + (math.log(2) if measured else 0.0)
    return _sum_or_one(value, (ramp, 2 * capacity / rho, (3 if measured else 1) * math.sqrt(log_term / (2 * n))))


@confirms("rademacher_risk")
def _rademacher_risk(value, z, w):
    B, n = z["loss_bound"], z["n"]
    return _rademacher(value, z, 2 * z["lipschitz"] * z["complexity"], B, n, z["data_dependent"])


@confirms("kernel_ridge_mse")
def _kernel_ridge_mse(value, z, w):
    n, reach = z["n"], z["kernel_radius"] * z["ball_radius"]
    M = (3 if z["offset"] else 2) * reach
    ball = reach / math.sqrt(n) if z["trace"] is None else z["ball_radius"] * math.sqrt(z["trace"]) / n
    complexity = ball + (reach / math.sqrt(n) if z["offset"] else 0.0)
    return _rademacher(value, z, 4 * M * complexity, M * M, n, z["trace"] is not None)


def _rademacher(value, z, capacity, B, n, measured) -> Evidence:
    log_term = log_inverse(z) + (math.log(2) if measured else 0.0)
    return _sum_or_one(value, (z["empirical"], capacity, (3 if measured else 1) * B * math.sqrt(log_term / (2 * n))), B)


@confirms("pac_bayes_kl")
def _pac_bayes_kl(value, z, w):
    return relative_entropy(z["empirical"], value, _pac_bayes(z, z["divergence"]))


@confirms("pac_bayes_linear")
def _pac_bayes_linear(value, z, w):
    mu, theta = z["mu"], z["theta"]
    share = float(normal_cdf(np.array([theta]))[0]) if z["deterministic"] else 1.0
    lost = math.fsum(normal_cdf(theta - mu * w["margins"])) / len(w["margins"])
    needed = _pac_bayes(z, mu * mu / 2, math.log(z["n_thetas"]))
    return _nothing(value) or relative_entropy(lost, value * share, needed)


@confirms("pac_bayes_hybrid")
def _pac_bayes_hybrid(value, z, w):
    if nothing := _nothing(value):
        return nothing
    right, tau, theta = w["first_right"].astype(bool), z["tau"], z["theta"]
    first = binomial_tail(z["errors"], z["n"], z["first_model"], Fraction(spent(z)) / 2)
    if int(np.sum(~right)) != z["errors"]:
        return Evidence(-math.inf)
    lost = math.fsum(right * normal_cdf(theta - w["scaled_margins"] / math.sqrt(tau))) / len(right)
    needed = _pac_bayes(z, z["distance"] ** 2 / (2 * tau), math.log(2 * z["n_grid"]))
    share = float(normal_cdf(np.array([theta]))[0])
    change = relative_entropy(lost, min(1.0, z["change"] * share), needed)
    return weakest(first, change, _sum_or_one(value, (z["first_model"], z["change"])))


@confirms("vote_first_order")
def _vote_first_order(value, z, w):
    return _nothing(value) or relative_entropy(z["empirical"], value / 2, _pac_bayes(z, z["divergence"]))


@confirms("vote_tandem")
def _vote_tandem(value, z, w):
    return _nothing(value) or relative_entropy(z["empirical"], value / 4, _pac_bayes(z, 2 * z["divergence"]))


@confirms("vote_c_bound")
def _vote_c_bound(value, z, w):
    g, d = z["member"], z["disagreement_limit"]
    upper = relative_entropy(z["empirical"], g, _pac_bayes(z, z["divergence"], math.log(2)))
    pairs = {**z, "n": z["n_pairs"]}
    lower = relative_entropy_below(z["disagreement"], d, _pac_bayes(pairs, 2 * z["divergence"], math.log(2)))
    formula = 1.0 if g >= 0.5 or d >= 0.5 else 1 - (1 - 2 * g) ** 2 / (1 - 2 * d)
    return weakest(upper, lower, _sum_or_one(value, (formula,)))


def _pac_bayes(z: Numbers, divergence: float, extra: float = 0.0) -> float:
    """Relative entropy that the PAC-Bayes theorem asks for."""
    return (divergence + math.log(2) + 0.5 * math.log(z["n"]) + extra + log_inverse(z)) / z["n"]


def _nothing(value: float) -> Evidence | None:
    """A limit of one claims nothing about an error rate, and needs no proof."""
    return Evidence(math.inf, exact=True) if value >= 1.0 else None


def _sum_or_one(value: float, parts: tuple[float, ...], top: float = 1.0) -> Evidence:
    """A limit at the top of the range is no claim; others must be at least the sum of their parts."""
    return Evidence(math.inf, exact=True) if value >= top else at_least(value, parts)
