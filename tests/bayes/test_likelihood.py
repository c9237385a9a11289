"""Maximum likelihood, relative entropy, conjugate priors, Laplace's approximation: closed forms against numbers and quadrature."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, stats

from surefit import (
    FiniteMLE,
    InvalidData,
    InvalidParameter,
    MaximumLikelihood,
    conjugate,
    kl_divergence,
    laplace_approximation,
)
from surefit.bayes.families import ON_A_LINE as FAMILIES

SEEDS = st.integers(0, 10**6)
DRAWS = {
    "bernoulli": lambda rng: rng.integers(0, 2, 40),
    "exponential": lambda rng: rng.exponential(2.0, 40),
    "laplace": lambda rng: rng.laplace(1.0, 2.0, 41),
    "normal": lambda rng: rng.normal(1.0, 2.0, 40),
    "poisson": lambda rng: rng.poisson(3.0, 40),
    "uniform": lambda rng: rng.random(40) * 5,
}


def test_gaussian_of_three_numbers():
    fit = MaximumLikelihood("normal").fit([1.0, 2.0, 3.0]).fit_
    assert fit.parameters == pytest.approx({"mean": 2.0, "variance": 2 / 3})
    assert fit.score == pytest.approx(np.zeros(2), abs=1e-12)


def test_coin():
    fit = MaximumLikelihood("bernoulli").fit([1, 1, 0]).fit_
    assert fit.parameters["probability"] == pytest.approx(2 / 3)
    assert fit.information == pytest.approx(np.array([[4.5]]))
    boundary = MaximumLikelihood("bernoulli").fit([1, 1]).fit_
    assert boundary.parameters["probability"] == 1.0
    assert boundary.log_likelihood == 0.0  # 0 log 0 is 0
    assert not boundary.inside
    with pytest.raises(InvalidData, match="boundary"):
        MaximumLikelihood("bernoulli").fit([1, 1]).interval()


@pytest.mark.parametrize("name", FAMILIES)
@settings(deadline=None, max_examples=15)
@given(seed=SEEDS)
def test_no_neighbor_is_more_likely(name, seed):
    rng = np.random.default_rng(seed)
    x, family = np.asarray(DRAWS[name](rng), dtype=float), FAMILIES[name]
    x[0], x[1] = (0, 1) if name == "bernoulli" else (x[0] + 1, x[1])
    fit = MaximumLikelihood(name).fit(x).fit_
    theta = np.array(list(fit.parameters.values()))
    for _ in range(20):
        other = theta * (1 + 0.05 * rng.standard_normal(len(theta)))
        if name == "bernoulli":
            other = np.clip(other, 0.001, 0.999)
        assert np.sum(family.log_density(x, other)) <= fit.log_likelihood + 1e-9
    if fit.score is not None:
        assert np.max(np.abs(fit.score)) <= 1e-8 * len(x) * max(1.0, float(np.max(np.abs(fit.information))))


@pytest.mark.parametrize("name", FAMILIES)
def test_weights_are_repetitions(name):
    rng = np.random.default_rng(0)
    x, w = DRAWS[name](rng), rng.integers(0, 3, len(DRAWS[name](rng)))
    weighted, repeated = MaximumLikelihood(name).fit(x, w).fit_, MaximumLikelihood(name).fit(np.repeat(x, w)).fit_
    assert weighted.parameters == pytest.approx(repeated.parameters)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood)


@pytest.mark.parametrize(
    ("name", "theta", "info"), [("bernoulli", [0.3], 1 / 0.21), ("exponential", [2.0], 0.25), ("poisson", [4.0], 0.25)]
)
def test_information_by_two_routes(name, theta, info):
    family, theta = FAMILIES[name], np.array(theta)
    draws = {"bernoulli": stats.bernoulli(0.3), "exponential": stats.expon(scale=0.5), "poisson": stats.poisson(4.0)}
    scores = family.scores(draws[name].rvs(400_000, random_state=1).astype(float), theta)
    assert family.information(theta)[0, 0] == pytest.approx(info)
    assert np.mean(scores**2) == pytest.approx(info, rel=0.01)
    assert abs(np.mean(scores)) < 4 * math.sqrt(info / 400_000)


def test_standardized_errors_are_normal():
    rng = np.random.default_rng(2)
    fits = [MaximumLikelihood("exponential").fit(rng.exponential(0.5, 200)).fit_ for _ in range(600)]
    z = np.array([(f.parameters["rate"] - 2.0) / f.standard_errors["rate"] for f in fits])
    assert stats.kstest(z, "norm").pvalue > 1e-3
    covered = np.mean(np.abs(z) < 1.96)
    assert 0.92 < covered < 0.98


def test_interval_and_errors():
    low, high = MaximumLikelihood("normal").fit(np.arange(9.0)).interval(0.95)["mean"]
    assert (low + high) / 2 == pytest.approx(4.0)
    assert high - low == pytest.approx(2 * 1.959964 * math.sqrt(60 / 9 / 9), rel=1e-6)
    with pytest.raises(InvalidParameter, match="family"):
        MaximumLikelihood("cauchy")
    with pytest.raises(InvalidData, match="integers"):
        MaximumLikelihood("poisson").fit([0.5])
    with pytest.raises(InvalidData):
        MaximumLikelihood().fit([])


def test_coin_with_two_candidates():
    model = FiniteMLE([[0.6, 0.4], [0.4, 0.6]]).fit([1, 1, 0])
    assert model.index_ == 1
    assert np.exp(model.log_likelihoods_) == pytest.approx([0.096, 0.144])
    assert FiniteMLE([[0.5, 0.5], [0.5, 0.5]]).fit([0]).index_ == 0  # the first of equals
    # The likelihood decides, not the distance to the unrestricted estimate 2/3.
    assert FiniteMLE([[0.99, 0.01], [0.0, 1.0]]).fit([1, 1, 0]).index_ == 0


def test_finite_error_bound_holds():
    distributions = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]]
    model, rng = FiniteMLE(distributions), np.random.default_rng(0)
    n, misses = 400, 0
    for _ in range(300):
        misses += model.fit(rng.choice(3, n, p=distributions[0])).index_ != 0
    bound = model.error_bound(n)
    assert model.separation == pytest.approx(
        min(kl_divergence(p, q) for p in distributions for q in distributions if p != q)
    )
    assert misses / 300 <= bound + 0.03
    assert model.error_bound(2 * n) == pytest.approx(bound**2 / 4)


@settings(deadline=None, max_examples=50)
@given(seed=SEEDS, n=st.integers(1, 6))
def test_relative_entropy(seed, n):
    rng = np.random.default_rng(seed)
    p, q = rng.dirichlet(np.ones(n)), rng.dirichlet(np.ones(n))
    assert kl_divergence(p, q) >= 0
    assert kl_divergence(p, p) == 0
    assert kl_divergence(p, q) == pytest.approx(sum(a * math.log(a / b) for a, b in zip(p, q, strict=True)), abs=1e-12)


def test_log_likelihood_ratio_tends_to_minus_relative_entropy():
    p, q = np.array([0.7, 0.3]), np.array([0.4, 0.6])
    x = np.random.default_rng(3).choice(2, 200_000, p=p)
    assert np.mean(np.log(q[x] / p[x])) == pytest.approx(-kl_divergence(p, q), abs=0.005)


def test_coin_posterior_of_the_notes():
    posterior = conjugate.BetaBernoulli(2, 2).update([1, 1, 0])
    assert (posterior.alpha, posterior.beta) == (4, 3)
    assert posterior.mode == (0.6, True, True)
    many = conjugate.BetaBernoulli(2, 2).update([1] * 2000 + [0] * 1000)
    assert many.mode.value == pytest.approx(0.66656, abs=5e-6)
    flat = conjugate.BetaBernoulli().update([1, 1, 0])
    assert flat.mode.value == pytest.approx(2 / 3)
    assert conjugate.BetaBernoulli(1, 3).mode == (0.0, False, True)
    assert conjugate.BetaBernoulli(3, 1).mode == (1.0, False, True)
    assert conjugate.BetaBernoulli(0.5, 0.5).mode == (0.0, False, False)  # both ends
    assert conjugate.BetaBernoulli().mode == (0.5, True, False)  # flat
    for a, b, heads, tails in ((2, 2, 2, 1), (5, 1, 10, 30), (1, 1, 3, 4)):
        mode = conjugate.BetaBernoulli(a, b).update([1] * heads + [0] * tails).mode.value
        n = heads + tails
        assert abs(mode - heads / n) <= conjugate.BetaBernoulli(a, b).map_mle_bound(n) + 1e-15


BELIEFS = [
    (conjugate.BetaBernoulli(2.0, 3.0), [1, 0, 1, 1, 0]),
    (conjugate.NormalNormal(1.0, 2.0, 0.5), [0.3, -1.0, 2.0]),
    (conjugate.InverseGammaNormal(2.0, 1.5, 0.5), [0.3, -1.0, 2.0]),
    (conjugate.NormalInverseGamma(0.5, 2.0, 3.0, 1.0), [0.3, -1.0, 2.0]),
    (conjugate.DirichletMultinomial((1.0, 2.0, 0.5)), [0, 2, 2, 1]),
    (conjugate.GammaPoisson(2.0, 0.5), [3, 0, 5]),
]


@pytest.mark.parametrize(("posterior", "data"), BELIEFS)
def test_one_by_one_in_any_order_is_all_at_once(posterior, data):
    together = posterior.update(data)
    step = posterior
    for value in reversed(data):
        step = step.update([value])
    assert np.hstack(list(vars(step).values())) == pytest.approx(np.hstack(list(vars(together).values())))


@pytest.mark.parametrize(("posterior", "data"), BELIEFS)
def test_evidence_is_the_product_of_predictions(posterior, data):
    total, step = 0.0, posterior
    for value in data:
        distribution = step.predictive()
        if isinstance(distribution, float):
            total += math.log(distribution if value else 1 - distribution)
        elif isinstance(distribution, np.ndarray):
            total += math.log(distribution[value])
        else:
            total += float(
                distribution.logpmf(value)
                if hasattr(distribution, "logpmf") and not hasattr(distribution.dist, "pdf")
                else distribution.logpdf(value)
            )
        step = step.update([value])
    assert posterior.log_evidence(data) == pytest.approx(total)


@pytest.mark.parametrize(
    ("posterior", "data", "density"),
    [
        (*BELIEFS[0], lambda t, x: t ** sum(x) * (1 - t) ** (len(x) - sum(x))),
        (*BELIEFS[1], lambda t, x: np.prod(stats.norm(t, math.sqrt(0.5)).pdf(x))),
        (*BELIEFS[2], lambda t, x: np.prod(stats.norm(0.5, math.sqrt(t)).pdf(x))),
        (*BELIEFS[5], lambda t, x: np.prod(stats.poisson(t).pmf(x))),
    ],
)
def test_posterior_is_prior_times_likelihood_over_evidence(posterior, data, density):
    after = posterior.update(data)
    for t in np.linspace(0.05, 0.95, 7):
        assert after.distribution.pdf(t) * math.exp(posterior.log_evidence(data)) == pytest.approx(
            posterior.distribution.pdf(t) * density(t, data), rel=1e-9
        )
    low, high = after.interval(0.9)
    inside = integrate.quad(after.distribution.pdf, low, high)[0]
    assert inside == pytest.approx(0.9, abs=1e-6)
    assert after.distribution.pdf(after.mode.value) >= after.distribution.pdf(after.mean)


def test_two_categories_are_the_coin():
    coin, pair = (
        conjugate.BetaBernoulli(2, 3).update([1, 0, 1]),
        conjugate.DirichletMultinomial((3, 2)).update([1, 0, 1]),
    )
    assert pair.alpha == (coin.beta, coin.alpha)
    assert pair.interval()[1] == pytest.approx(coin.interval())


def test_conjugate_errors():
    with pytest.raises(InvalidParameter, match="alpha"):
        conjugate.BetaBernoulli(0, 1)
    with pytest.raises(InvalidData, match="0 or 1"):
        conjugate.BetaBernoulli().update([2])
    with pytest.raises(InvalidData, match="integers"):
        conjugate.GammaPoisson().update([-1])
    with pytest.raises(InvalidData, match="categories"):
        conjugate.DirichletMultinomial().update([2])
    with pytest.raises(InvalidData, match="finite"):
        conjugate.NormalNormal().update([math.nan])


def test_laplace_is_exact_for_a_normal_density():
    rng = np.random.default_rng(0)
    B = rng.standard_normal((3, 3))
    H, m = B @ B.T + np.eye(3), rng.standard_normal(3)
    found = laplace_approximation(lambda t: 1.7 - 0.5 * (t - m) @ H @ (t - m), np.zeros(3))
    exact = 1.7 + 1.5 * math.log(2 * math.pi) - 0.5 * np.linalg.slogdet(H)[1]
    assert found.mode == pytest.approx(m, abs=1e-6)
    assert found.log_integral == pytest.approx(exact, abs=1e-6)
    assert found.covariance == pytest.approx(np.linalg.inv(H), abs=1e-5)


@pytest.mark.parametrize("n", [10, 100, 1000])
def test_laplace_error_of_the_coin_is_of_order_one_over_n(n):
    heads = int(0.6 * n)
    found = laplace_approximation(
        lambda t: heads * math.log(t[0]) + (n - heads) * math.log1p(-t[0]) if 0 < t[0] < 1 else -1e9,
        [0.5],
        gradient=lambda t: np.array([heads / t[0] - (n - heads) / (1 - t[0])]),
        hessian=lambda t: np.array([[-heads / t[0] ** 2 - (n - heads) / (1 - t[0]) ** 2]]),
    )
    exact = conjugate.BetaBernoulli().log_evidence([1] * heads + [0] * (n - heads))
    assert found.mode == pytest.approx([0.6])
    assert abs(found.log_integral - exact) < 2 / n


def test_laplace_refuses_a_density_without_a_peak():
    with pytest.raises(InvalidData, match="did not end at a maximum"):
        laplace_approximation(lambda t: 0.0 * t[0], [0.0])
