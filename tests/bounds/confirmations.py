"""A second evaluation of bounds that no claim states: their limits are confirmed without inverting a tail.

The checker has its own confirmations of those that claims do state; ``CONFIRM`` here has both.
"""

import math
from fractions import Fraction

import numpy as np

from surefit.checks import bounds as stated
from surefit.checks.bounds import log_inverse, nothing, pac_bayes, spent, sum_or_one
from surefit.checks.tail_sums import (
    Evidence,
    at_least,
    binomial_tail,
    log_labelings,
    relative_entropy,
    weakest,
)

CONFIRM = dict(stated.CONFIRM)


def confirms(*names):
    """Register the function that confirms the bounds called ``names``."""

    def add(function):
        CONFIRM.update(dict.fromkeys(names, function))
        return function

    return add


@confirms("conformal")
def _conformal(value, z, w):
    return binomial_tail(z["m"] - z["rank"], z["m"], value, Fraction(spent(z)))


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


@confirms("empirical_bernstein")
def _empirical_bernstein(value, z, w):
    x = w["losses"]
    mean, n = math.fsum(x) / len(x), len(x)
    variance, log_term = math.fsum((x - mean) ** 2) / (n - 1), math.log(2) + log_inverse(z)
    parts = (mean, math.sqrt(2 * variance * log_term / n), 7 * log_term / (3 * (n - 1)))
    return sum_or_one(value, parts)


@confirms("hoeffding", "sub_gaussian")
def _gaussian(value, z, w):
    radius = math.sqrt(2 * z["variance"] * (math.log(z["sides"]) + log_inverse(z)) / z["n"])
    return sum_or_one(value, (z["empirical"], radius), z["width"])


@confirms("chebyshev")
def _chebyshev(value, z, w):
    return sum_or_one(value, (z["empirical"], math.sqrt(z["variance"] / (z["n"] * spent(z)))), z["width"])


@confirms("bernstein")
def _bernstein(value, z, w):
    eps, log_term = value - z["empirical"], math.log(z["sides"]) + log_inverse(z)
    exponent = z["n"] * eps * eps / (2 * (z["variance"] + z["width"] * max(eps, 0.0) / 3)) if eps > 0 else 0.0
    return sum_or_one(value, (), z["width"]) if value >= z["width"] else at_least(exponent, (log_term,))


@confirms("pseudo_dimension")
def _pseudo_dimension(value, z, w):
    n, M = z["n"], z["width"]
    capacity = 2 * M * math.sqrt(2 * log_labelings(n, z["dimension"], z["form"]) / n)
    return sum_or_one(value, (z["empirical"], capacity, M * math.sqrt(log_inverse(z) / (2 * n))), M)


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
    return sum_or_one(value, (ramp, 2 * capacity / rho, (3 if measured else 1) * math.sqrt(log_term / (2 * n))))


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
    return sum_or_one(value, (z["empirical"], capacity, (3 if measured else 1) * B * math.sqrt(log_term / (2 * n))), B)


@confirms("pac_bayes_kl")
def _pac_bayes_kl(value, z, w):
    return relative_entropy(z["empirical"], value, pac_bayes(z, z["divergence"]))


@confirms("pac_bayes_linear")
def _pac_bayes_linear(value, z, w):
    mu, theta = z["mu"], z["theta"]
    share = float(normal_cdf(np.array([theta]))[0]) if z["deterministic"] else 1.0
    lost = math.fsum(normal_cdf(theta - mu * w["margins"])) / len(w["margins"])
    needed = pac_bayes(z, mu * mu / 2, math.log(z["n_thetas"]))
    return nothing(value) or relative_entropy(lost, value * share, needed)


@confirms("pac_bayes_hybrid")
def _pac_bayes_hybrid(value, z, w):
    if found := nothing(value):
        return found
    right, tau, theta = w["first_right"].astype(bool), z["tau"], z["theta"]
    first = binomial_tail(z["errors"], z["n"], z["first_model"], Fraction(spent(z)) / 2)
    if int(np.sum(~right)) != z["errors"]:
        return Evidence(-math.inf)
    lost = math.fsum(right * normal_cdf(theta - w["scaled_margins"] / math.sqrt(tau))) / len(right)
    needed = pac_bayes(z, z["distance"] ** 2 / (2 * tau), math.log(2 * z["n_grid"]))
    share = float(normal_cdf(np.array([theta]))[0])
    change = relative_entropy(lost, min(1.0, z["change"] * share), needed)
    return weakest(first, change, sum_or_one(value, (z["first_model"], z["change"])))


def normal_cdf(z):
    """Standard normal distribution function."""
    return np.array([0.5 * math.erfc(-v / math.sqrt(2)) for v in np.asarray(z, dtype=np.float64).tolist()])
