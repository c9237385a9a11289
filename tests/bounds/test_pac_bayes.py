"""PAC-Bayes: the constant 2 sqrt(n), the formula, Gaussian averages, and the hybrid prior's parts."""

import math

import numpy as np
import pytest
from scipy.stats import norm

from surefit.bounds import clopper_pearson, kl_inverse, pac_bayes_hybrid, pac_bayes_kl, pac_bayes_linear
from surefit.core.errors import InvalidData, InvalidParameter


@pytest.mark.parametrize("n", [1, 2, 3, 5, 8, 20, 60, 200])
def test_the_constant_is_valid(n):
    # sup over p of E exp(n kl(k/n, p)) is xi(n) = sum_k C(n,k) (k/n)^k (1-k/n)^(n-k), at most 2 sqrt(n)
    xi = math.fsum(math.comb(n, k) * (k / n) ** k * (1 - k / n) ** (n - k) for k in range(n + 1))
    assert math.sqrt(n) <= xi <= 2 * math.sqrt(n) * (1 + 1e-12)


def test_formula():
    value = pac_bayes_kl(0.12, 7.0, 900, 0.05).value
    assert value == pytest.approx(kl_inverse(0.12, (7 + math.log(2 * 30 / 0.05)) / 900), rel=1e-8)
    assert pac_bayes_kl(0.0, 0.0, 10**9, 1e-300).value == pytest.approx(
        (math.log(2 * math.sqrt(1e9)) + 690.8) / 1e9, rel=1e-3
    )
    assert pac_bayes_kl(0.1, 1e9, 1000).vacuous and pac_bayes_kl(1.0, 0.0, 10).vacuous


def test_gibbs_risk_is_the_gaussian_average():
    # P(t <v, x> <= 0) for v ~ N(mu w, I), |w| = |x| = 1, <w, x> = z, is Phi(-mu z)
    rng = np.random.default_rng(0)
    w, x, mu = np.array([1.0, 0.0]), np.array([0.6, 0.8]), 1.5
    draws = rng.normal(size=(200_000, 2)) + mu * w
    assert np.mean(draws @ x <= 0) == pytest.approx(norm.cdf(-mu * 0.6), abs=5e-3)


def test_linear_bound_is_the_best_scale():
    z = np.random.default_rng(1).normal(0.3, 0.15, size=2000).clip(-1, 1)
    bound = pac_bayes_linear(z)
    mu = bound.inputs["mu"]
    assert bound.value == pytest.approx(
        pac_bayes_kl(float(np.mean(norm.cdf(-mu * z))), mu**2 / 2, 2000).value, rel=1e-9
    )
    others = [pac_bayes_kl(float(np.mean(norm.cdf(-m * z))), m**2 / 2, 2000).value for m in np.geomspace(0.5, 100, 40)]
    assert bound.value <= min(others) * 1.01
    deterministic = pac_bayes_linear(z, deterministic=True)
    theta, mu = deterministic.inputs["theta"], deterministic.inputs["mu"]
    inner = pac_bayes_kl(float(np.mean(norm.cdf(theta - mu * z))), mu**2 / 2, 2000, 0.05 / 6).value
    assert deterministic.value == pytest.approx(inner / norm.cdf(theta), rel=1e-9)
    assert bound.value < deterministic.value < 1


def test_error_implies_a_noisy_error():
    # 1[m <= 0] <= Phi(theta - m) / Phi(theta): the step from the randomized to the deterministic classifier
    m = np.linspace(-4, 4, 81)
    for theta in (0.0, 1.0, 2.5):
        assert np.all((m <= 0) <= norm.cdf(theta - m) / norm.cdf(theta) + 1e-15)


def test_hybrid_parts():
    rng = np.random.default_rng(2)
    right = rng.random(800) > 0.06
    z = np.where(right, rng.normal(12, 3, 800), -2.0)
    k = int(np.sum(~right))
    bound = pac_bayes_hybrid(k, z, right, 3.0)
    tau, theta = bound.inputs["tau"], bound.inputs["theta"]
    lost = float(np.mean(right * norm.cdf(theta - z / math.sqrt(tau))))
    c = (9 / (2 * tau) + math.log(4 * math.sqrt(800) * 48 / 0.05)) / 800
    assert bound.terms["change"] == pytest.approx(kl_inverse(lost, c) / norm.cdf(theta), rel=1e-8)
    assert bound.terms["first_model"] == clopper_pearson(k, 800, 0.025)
    assert bound.value == pytest.approx(sum(bound.terms.values()))
    assert bound.value < pac_bayes_hybrid(k, z, right, 30.0).value
    assert pac_bayes_hybrid(800, np.full(800, -1.0), np.zeros(800, bool), 3.0).vacuous


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: pac_bayes_kl(1.5, 0.0, 10), InvalidParameter, "empirical"),
        (lambda: pac_bayes_kl(0.5, -1.0, 10), InvalidParameter, "divergence"),
        (lambda: pac_bayes_kl(0.5, 1.0, 0), InvalidParameter, "n must be"),
        (lambda: pac_bayes_linear([3.0]), InvalidData, "cosines"),
        (lambda: pac_bayes_linear([]), InvalidData, "non-empty"),
        (lambda: pac_bayes_hybrid(1, [1.0, 2.0], [True, True], 1.0), InvalidData, "first_right"),
        (lambda: pac_bayes_hybrid(0, [1.0], [True], -1.0), InvalidParameter, "distance"),
    ],
)
def test_refusals(call, error, message):
    with pytest.raises(error, match=message):
        call()
