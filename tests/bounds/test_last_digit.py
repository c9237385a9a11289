"""Every risk bound against its theorem in arithmetic of fifty digits: on the safe side, and wider by less than 1e-12 of itself."""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.test_bounds import CASES, HONEST

from surefit.bounds import kl_inverse, kl_inverse_lower
from surefit.bounds.progressive import bernstein_rate_grid, rate_grid

DIGITS = 50
CLOSE = 1e-12


def log_tail(k, n, p):
    """``ln P(Bin(n, p) <= k)``, summed downward until the terms vanish."""
    term = total = mpf(1)
    for j in range(k, 0, -1):
        term *= j * (1 - p) / ((n - j + 1) * p)
        total += term
        if term < total * mpf(10) ** -45:
            break
    choices = mpmath.loggamma(n + 1) - mpmath.loggamma(k + 1) - mpmath.loggamma(n - k + 1)
    return mpmath.log(total) + choices + k * mpmath.log(p) + (n - k) * mpmath.log(1 - p)


def kl(q, p):
    q, p = mpf(q), mpf(p)
    return sum(a * mpmath.log(a / b) for a, b in ((q, p), (1 - q, 1 - p)) if a > 0)


def needed(z):
    return -mpmath.log(mpf(z.get("delta_spent", z["delta"])))


def total(*parts):
    """A bound that is a sum: a value is right from the sum on."""
    return lambda p: p >= sum(map(mpf, parts))


def tail(k, n, log_share):
    return lambda p: log_tail(k, n, p) <= log_share


def log_mean_exp(exponents):
    return mpmath.log(sum(map(mpmath.exp, exponents)) / len(exponents))


def error_capital(q, n, rates, z):
    def right(p):
        return log_mean_exp([n * (-r * q - mpmath.log(1 + p * mpmath.expm1(-r))) for r in rates]) >= needed(z)

    return right


def loss_capital(losses, start, rates, z):
    guess_sum, surprise = mpf(start), mpf(0)
    for t, loss in enumerate(map(mpf, losses.tolist()), start=1):
        surprise += (loss - guess_sum / t) ** 2
        guess_sum += loss
    gained = guess_sum - mpf(start)

    def right(p):
        exponents = [r * (len(losses) * p - gained) - (-mpmath.log(1 - r) - r) * surprise for r in rates]
        return log_mean_exp(exponents) >= needed(z)

    return right


def stable(z):
    size, n = z["size"], z["n"]
    goal = mpmath.log(n) + needed(z) + mpmath.log(z.get("budgets", 1))

    def right(eps):
        term = whole = 1 / (1 - eps)  # of m = n - 1, times (n - size) / n
        for m in range(n - 1, size, -1):
            term *= mpf(m - size) / m / (1 - eps)
            whole += term
        return mpmath.log(whole * (n - size) / n) >= goal

    return right


def deviation(z, variance):
    return total(z["empirical"], mpmath.sqrt(2 * mpf(variance) * (mpmath.log(z["sides"]) + needed(z)) / z["n"]))


def bernstein(z):
    def right(p):
        eps = p - mpf(z["empirical"])
        exponent = z["n"] * eps**2 / (2 * (mpf(z["variance"]) + mpf(z["width"]) * eps / 3))
        return eps > 0 and exponent >= mpmath.log(z["sides"]) + needed(z)

    return right


def empirical_bernstein(z, losses):
    x = [mpf(v) for v in losses.tolist()]
    n, mean = len(x), sum(x) / len(x)
    variance, logs = sum((v - mean) ** 2 for v in x) / (n - 1), mpmath.log(2) + needed(z)
    return total(mean, mpmath.sqrt(2 * variance * logs / n), 7 * logs / (3 * (n - 1)))


def log_labelings(n, d, form):
    if form == "cover":
        return mpmath.log(2) + log_labelings(n - 1, d - 1, "sauer")
    if form == "sauer":
        return mpmath.log(sum(math.comb(n, i) for i in range(d + 1)))
    return d * mpmath.log(n + 1) if form == "power" else d * (1 + mpmath.log(mpf(n) / d))


def vc(z):
    n, theorem = z["n"], z["theorem"]
    growth = log_labelings(n * (2 if theorem == "double_sample" else 1), z["dimension"], z["form"])
    if theorem == "rademacher":
        return total(z["empirical"], mpmath.sqrt(2 * growth / n), mpmath.sqrt(needed(z) / (2 * n)))
    factor, divisor = {"symmetrized": (8, 32), "double_sample": (4, 8)}[theorem]
    return total(z["empirical"], mpmath.sqrt(mpf(divisor) / n * (mpmath.log(factor) + growth + needed(z))))


def rademacher(z, capacity, top, measured):
    logs = needed(z) + (mpmath.log(2) if measured else 0)
    return total(z["empirical"], capacity, (3 if measured else 1) * top * mpmath.sqrt(logs / (2 * z["n"])))


def kernel_ridge(z):
    n, reach = z["n"], mpf(z["kernel_radius"]) * mpf(z["ball_radius"])
    top, root = (3 if z["offset"] else 2) * reach, mpmath.sqrt(n)
    ball = reach / root if z["trace"] is None else mpf(z["ball_radius"]) * mpmath.sqrt(z["trace"]) / n
    complexity = ball + (reach / root if z["offset"] else 0)
    return rademacher(z, 4 * top * complexity, top**2, z["trace"] is not None)


def margins(z, values):
    m, rho, n = [mpf(v) for v in values.tolist()], mpf(z["threshold"]), len(values)
    measured = z.get("trace") is not None
    if measured:
        capacity = mpmath.sqrt(z["trace"]) / n
    else:
        capacity = z["radius"] / mpmath.sqrt(n) if "radius" in z else mpmath.sqrt(2 * mpf(z["log_n_base"]) / n)
    ramp = sum(min(mpf(1), max(mpf(0), 1 - v / rho)) for v in m) / n
    logs = mpmath.log(z["n_thresholds"]) + needed(z) + (mpmath.log(2) if measured else 0)
    return total(ramp, 2 * capacity / rho, (3 if measured else 1) * mpmath.sqrt(logs / (2 * n)))


def pac_bayes(z, divergence, extra=0, n=None):
    n = z["n"] if n is None else n
    return (divergence + mpmath.log(2) + mpmath.log(n) / 2 + extra + needed(z)) / n


def entropy(q, goal, share=1):
    return lambda p: p * share >= mpf(q) and kl(q, p * share) >= goal


def pac_bayes_linear(z, values):
    mu, theta = mpf(z["mu"]), mpf(z["theta"])
    share = mpmath.ncdf(theta) if z["deterministic"] else mpf(1)
    lost = sum(mpmath.ncdf(theta - mu * mpf(v)) for v in values.tolist()) / len(values)
    return entropy(lost, pac_bayes(z, mu * mu / 2, mpmath.log(z["n_thetas"])), share)


def hybrid(z, w):
    theta, tau, right = mpf(z["theta"]), mpf(z["tau"]), w["first_right"]
    scaled = [mpf(v) / mpmath.sqrt(tau) for v in w["scaled_margins"].tolist()]
    lost = sum(mpmath.ncdf(theta - v) for v, r in zip(scaled, right, strict=True) if r) / len(right)
    goal = pac_bayes(z, mpf(z["distance"]) ** 2 / (2 * tau), mpmath.log(2 * z["n_grid"]))
    first = tail(z["errors"], z["n"], -needed(z) - mpmath.log(2))
    return both((first, z["first_model"]), (entropy(lost, goal, mpmath.ncdf(theta)), z["change"]))


def both(*parts):
    """A sum of bounds, each of which is right to the last digits itself."""
    assert all(tight(right, value) for right, value in parts)
    return total(*(value for _, value in parts))


def c_bound(z):
    g, d = mpf(z["member"]), mpf(z["disagreement_limit"])
    assert tight(entropy(z["empirical"], pac_bayes(z, z["divergence"], mpmath.log(2))), z["member"])
    goal = pac_bayes(z, 2 * mpf(z["divergence"]), mpmath.log(2), z["n_pairs"])
    assert kl(z["disagreement"], d) >= goal > kl(z["disagreement"], d * (1 + CLOSE))
    return total(1 - (1 - 2 * g) ** 2 / (1 - 2 * d))


def transfer(z):
    share = -needed(z) - mpmath.log(2)
    twin, change = tail(z["errors"], z["n"], share), tail(z["disagreements"], z["n_unlabeled"], share)
    return both((twin, z["twin"]), (change, z["change"]))


def rates_of(z):
    return [mpf(r) for r in (rate_grid(z["n"], z["delta"]) if z.get("rate") is None else [z["rate"]])]


def loss_rates(z):
    return [mpf(r) for r in (bernstein_rate_grid(z["n"], z["delta"]) if z["rate"] is None else [z["rate"]])]


def choices(z):
    n, s = z["n"], z["size"]
    return mpmath.log(n) + mpmath.log(math.comb(n, s))


THEOREMS = {
    "bernstein": lambda z, w: bernstein(z),
    "chebyshev": lambda z, w: total(z["empirical"], mpmath.sqrt(mpf(z["variance"]) / (z["n"] * mpf(z["delta"])))),
    "conformal": lambda z, w: tail(z["m"] - z["rank"], z["m"], -needed(z)),
    "empirical_bernstein": lambda z, w: empirical_bernstein(z, w["losses"]),
    "finite_class": lambda z, w: total(
        z["empirical"],
        z["width"] * mpmath.sqrt((mpf(z["log_size"]) + mpmath.log(z["sides"]) + needed(z)) / (2 * z["n"])),
    ),
    "hoeffding": lambda z, w: deviation(z, z["variance"]),
    "holdout": lambda z, w: tail(z["errors"], z["n"], -needed(z)),
    "holdout_loss": lambda z, w: entropy(z["empirical"], needed(z) / z["n"]),
    "k_fold": lambda z, w: error_capital(mpf(z["empirical"]), z["n"], rates_of(z), z),
    "kernel_ridge_mse": lambda z, w: kernel_ridge(z),
    "margin": lambda z, w: margins(z, w["margins"]),
    "occam": lambda z, w: tail(z["errors"], z["n"], -needed(z) - mpf(z["bits"]) * mpmath.log(2)),
    "pac_bayes_hybrid": hybrid,
    "pac_bayes_kl": lambda z, w: entropy(z["empirical"], pac_bayes(z, mpf(z["divergence"]))),
    "pac_bayes_linear": lambda z, w: pac_bayes_linear(z, w["margins"]),
    "pick_to_learn": lambda z, w: stable(z),
    "progressive_errors": lambda z, w: error_capital(mpf(z["errors"]) / z["n"], z["n"], rates_of(z), z),
    "progressive_losses": lambda z, w: loss_capital(w["losses"], z["start"], loss_rates(z), z),
    "pseudo_dimension": lambda z, w: total(
        z["empirical"],
        2 * z["width"] * mpmath.sqrt(2 * log_labelings(z["n"], z["dimension"], z["form"]) / z["n"]),
        z["width"] * mpmath.sqrt(needed(z) / (2 * z["n"])),
    ),
    "rademacher_risk": lambda z, w: rademacher(
        z, 2 * mpf(z["lipschitz"]) * mpf(z["complexity"]), mpf(z["loss_bound"]), z["data_dependent"]
    ),
    "sample_compression": lambda z, w: tail(z["errors"], z["n"] - z["size"], -needed(z) - choices(z)),
    "stable_compression": lambda z, w: stable(z),
    "sub_gaussian": lambda z, w: deviation(z, z["variance"]),
    "transfer": lambda z, w: transfer(z),
    "vc": lambda z, w: vc(z),
    "vote_c_bound": lambda z, w: c_bound(z),
    "vote_first_order": lambda z, w: entropy(z["empirical"], pac_bayes(z, mpf(z["divergence"])), mpf(1) / 2),
    "vote_margin": lambda z, w: margins(z, w["margins"]),
    "vote_tandem": lambda z, w: entropy(z["empirical"], pac_bayes(z, 2 * mpf(z["divergence"])), mpf(1) / 4),
}


def tight(right, value):
    return right(mpf(value)) and not right(mpf(value) * (1 - mpf(CLOSE)))


@pytest.mark.parametrize(("name", "i"), CASES)
def test_bounds_are_right_to_twelve_digits_and_on_the_safe_side(name, i):
    bound = HONEST[name][i]
    with mpmath.workdps(DIGITS):
        right = THEOREMS[name]({**bound.terms, **bound.inputs, "delta": bound.delta}, bound.arrays)
        assert right(mpf(bound.value)), "too small"
        assert not right(mpf(bound.value) * (1 - mpf(CLOSE))), "wider than needed"


def test_inverses_of_the_relative_entropy_round_outward():
    rng = np.random.default_rng(0)
    with mpmath.workdps(DIGITS):
        for _ in range(300):
            q = float(rng.choice([rng.random(), 10.0 ** rng.uniform(-12, 0), 1 - 10.0 ** rng.uniform(-12, 0)]))
            c = float(10.0 ** rng.uniform(-14, 1.5))
            upper, lower = kl_inverse(q, c), kl_inverse_lower(q, c)
            assert upper == 1.0 or kl(q, upper) >= c > kl(q, max(mpf(q), mpf(upper) * (1 - mpf(CLOSE))))
            assert lower < 1e-30 or kl(q, lower) >= c > kl(q, min(mpf(q), mpf(lower) * (1 + mpf(CLOSE))))
