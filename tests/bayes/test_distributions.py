"""Known distributions: exact risks on a line and on finite sets, both kinds of error, excess risk, posteriors of any prior."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from surefit import (
    ClassDistribution,
    FiniteDistribution,
    InvalidData,
    InvalidParameter,
    KNeighborsClassifier,
    LabelModel,
    MaximumLikelihood,
    Posterior,
    UniformDistribution,
    conjugate,
    consistency_study,
    kl_divergence,
    likelihood_ratio_path,
)


def cut(t):
    return lambda x: (x[:, 0] > t).astype(int)


def test_risk_of_a_cut_on_a_line_is_not_simulated():
    world = ClassDistribution.gaussian([[0.0], [1.0]], 1.0)
    risk = world.risk(cut(0.5))
    assert risk.how == "quadrature"
    assert risk.value == pytest.approx(stats.norm.cdf(-0.5), abs=1e-12)
    first, second = world.errors(cut(1.2))
    assert first == pytest.approx(stats.norm.sf(1.2), abs=1e-12)
    assert second == pytest.approx(stats.norm.cdf(0.2), abs=1e-12)


def test_discrete_scipy_distributions_are_summed():
    world = ClassDistribution([0.4, 0.6], [stats.binom(2, 0.2), stats.binom(2, 0.7)])
    p, q = stats.binom(2, 0.2).pmf([0, 1, 2]), stats.binom(2, 0.7).pmf([0, 1, 2])
    risk = world.bayes_risk()
    assert risk.how == "exact"
    assert risk.value == pytest.approx(np.minimum(0.4 * p, 0.6 * q).sum(), abs=1e-15)
    poisson = ClassDistribution([0.5, 0.5], [stats.poisson(1), stats.poisson(4)])
    k = np.arange(200)
    exact = 0.5 * np.minimum(stats.poisson(1).pmf(k), stats.poisson(4).pmf(k)).sum()
    assert poisson.bayes_risk().value == pytest.approx(exact, abs=1e-14)


@settings(deadline=None, max_examples=20)
@given(t=st.floats(-2, 3), prior=st.floats(0.05, 0.95))
def test_excess_risk_is_the_difference_of_risks(t, prior):
    world = ClassDistribution([1 - prior, prior], [stats.norm(0, 1), stats.norm(1, 2)])
    excess = world.excess_risk(cut(t)).value
    assert excess == pytest.approx(world.risk(cut(t)).value - world.bayes_risk().value, abs=1e-9)
    assert excess >= 0
    errors = world.errors(cut(t))
    assert errors @ world.priors == pytest.approx(world.risk(cut(t)).value, abs=1e-9)


def test_plug_in_bound_holds_for_every_estimate():
    model = LabelModel(lambda x: x[:, 0] ** 2)
    for shift in (0.0, 0.1, -0.3):
        bound = model.plug_in_bound(lambda x, shift=shift: x[:, 0] ** 2 + shift)
        assert bound.value == pytest.approx(2 * abs(shift), abs=1e-12)
        excess = model.excess_risk(lambda x, shift=shift: x[:, 0] ** 2 + shift > 0.5).value
        assert excess <= bound.value + 1e-12
    with pytest.raises(InvalidData, match="two classes"):
        ClassDistribution([0.2, 0.3, 0.5], [stats.norm(i) for i in range(3)]).plug_in_bound(lambda x: x[:, 0])


def test_label_model_on_points_on_a_box_and_on_the_normal_line():
    points = LabelModel(lambda x: x[:, 0] / 4, FiniteDistribution([0, 1, 4], [0.5, 0.25, 0.25]))
    assert points.bayes_risk() == (0.0625, 0.0625, 0.0625, "exact")
    normal = LabelModel(lambda x: (x[:, 0] > 0) * 1.0, stats.norm())
    assert normal.bayes_risk().value == pytest.approx(0, abs=1e-12)
    assert normal.priors == pytest.approx([0.5, 0.5], abs=1e-9)
    box = LabelModel(lambda x: x.mean(axis=1), UniformDistribution(d=2))
    risk = box.risk(lambda x: x[:, 0] + x[:, 1] > 1)
    assert risk.how == "simulation"
    assert risk.low <= 1 / 3 <= risk.high  # E min(m, 1 - m) of the mean of two uniforms
    with pytest.raises(InvalidData, match="from 0 to 1"):
        LabelModel(lambda x: 2 * x[:, 0])
    with pytest.raises(InvalidParameter, match="low < high"):
        UniformDistribution(1.0, 0.0)


def test_consistency_study_runs_on_every_model():
    for model in (ClassDistribution.gaussian([[-1.0], [1.0]], 1.0), LabelModel(lambda x: x[:, 0])):
        study = consistency_study(
            lambda n: KNeighborsClassifier(2 * round(n**0.5 / 2) + 1), model, [20, 400], repeats=6
        )
        assert np.all(study.excess >= 0)
        assert study.mean_excess[1] < study.mean_excess[0]
        assert study.bayes_risk == pytest.approx(model.bayes_risk().value)


def test_two_columns_are_never_flattened():
    X = np.array([[0.0, 10.0], [0.0, 10.0]])
    with pytest.raises(InvalidData, match="one column"):
        MaximumLikelihood("normal").fit(X)
    assert MaximumLikelihood("normal").fit([[1.0], [3.0]]).fit_.parameters["mean"] == 2


def test_multivariate_normal_and_multinomial():
    X = np.random.default_rng(0).standard_normal((50, 3)) @ np.array([[1.0, 0.4, 0], [0, 2, 0.1], [0, 0, 0.5]])
    found = MaximumLikelihood("multivariate_normal").fit(X).fit_
    assert found.parameters["mean"] == pytest.approx(X.mean(axis=0))
    assert found.parameters["covariance"] == pytest.approx(np.cov(X.T, bias=True))
    reference = stats.multivariate_normal(X.mean(axis=0), np.cov(X.T, bias=True))
    assert found.log_likelihood == pytest.approx(reference.logpdf(X).sum())
    assert found.score == pytest.approx(np.zeros(3), abs=1e-10)
    assert MaximumLikelihood("multivariate_normal").fit([[1.0, 1.0], [1.0, 2.0]]).fit_.log_likelihood == math.inf
    counts = MaximumLikelihood("multinomial").fit([[2, 1, 1], [0, 3, 1]]).fit_
    assert counts.parameters["probabilities"] == pytest.approx([0.25, 0.5, 0.25])
    assert counts.log_likelihood == pytest.approx(
        stats.multinomial(4, [0.25, 0.5, 0.25]).logpmf([[2, 1, 1], [0, 3, 1]]).sum()
    )
    weighted = MaximumLikelihood("multinomial").fit([0, 1], sample_weight=[3, 1]).fit_
    assert weighted.parameters["probabilities"] == pytest.approx([0.75, 0.25])


def test_own_log_density():
    x = np.random.default_rng(1).gamma(3.0, 2.0, 400)
    found = MaximumLikelihood(
        lambda x, t: stats.gamma.logpdf(x, np.exp(t[0]), scale=np.exp(t[1])), start=[0.0, 0.0]
    ).fit(x)
    shape, _, scale = stats.gamma.fit(x, floc=0)
    assert np.exp(list(found.fit_.parameters.values())) == pytest.approx([shape, scale], rel=1e-5)
    assert found.fit_.score == pytest.approx([0, 0], abs=1e-4)
    assert found.interval()["theta0"][0] < math.log(3) < found.interval()["theta0"][1]
    with pytest.raises(InvalidParameter, match="start"):
        MaximumLikelihood(lambda x, t: x)


def test_likelihood_ratio_path_tends_to_minus_relative_entropy():
    p, q = [0.7, 0.3], [0.4, 0.6]
    x = np.random.default_rng(3).choice(2, 100_000, p=p)
    path = likelihood_ratio_path(x, p, q)
    assert path.limit == -kl_divergence(p, q)
    assert path.ratios[-1] == pytest.approx(path.limit, abs=0.006)
    normal = likelihood_ratio_path(np.zeros(3), stats.norm(0).logpdf, stats.norm(1).logpdf)
    assert normal.ratios == pytest.approx([-0.5] * 3)
    assert normal.limit is None


@pytest.mark.parametrize(("heads", "tails", "a", "b"), [(2, 1, 2, 2), (0, 3, 1, 1), (4, 0, 1, 1), (5, 5, 0.7, 3)])
def test_posterior_agrees_with_the_conjugate_one(heads, tails, a, b):
    from scipy.special import xlog1py, xlogy

    after = Posterior(lambda t: xlogy(heads, t) + xlog1py(tails, -t), stats.beta(a, b), support=(0, 1))
    exact = conjugate.BetaBernoulli(a, b).update([1] * heads + [0] * tails)
    assert after.mode().value == pytest.approx(exact.mode.value, abs=1e-7)
    assert after.mode().inside == exact.mode.inside
    assert after.density([0.3, 0.6]) == pytest.approx(exact.distribution.pdf([0.3, 0.6]), rel=1e-6)
    prior = conjugate.BetaBernoulli(a, b)
    assert after.log_evidence() == pytest.approx(prior.log_evidence([1] * heads + [0] * tails), abs=1e-6)


def test_flat_prior_gives_maximum_likelihood_and_normal_prior_shrinks():
    x = np.array([1.0, 2.0, 6.0])
    likelihood = lambda m: -0.5 * np.sum((x - m) ** 2)  # noqa: E731
    assert Posterior(likelihood).mode().value == pytest.approx(3.0, abs=1e-6)
    after = Posterior(likelihood, stats.norm(0, 1))
    assert after.mode().value == pytest.approx(9 / 4, abs=1e-6)
    assert after.mode().log_posterior == pytest.approx(after.log_density(after.mode().value))
    two = Posterior(lambda t: -((t[0] - 1) ** 2) - (t[1] + 2) ** 2, start=[0.0, 0.0])
    assert two.mode().value == pytest.approx([1, -2], abs=1e-6)
    assert two.log_evidence() == pytest.approx(math.log(math.pi), abs=1e-5)
    with pytest.raises(InvalidData, match="zero on the whole support"):
        Posterior(lambda t: -math.inf, support=(0, 1)).mode()
