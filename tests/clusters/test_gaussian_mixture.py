"""Mixtures of Gaussians: closed forms, monotone likelihood, gradients by differences, agreement with scikit-learn."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import multivariate_normal
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as Reference

from surefit import CertificateError, GaussianMixture, InvalidData, InvalidParameter

X = load_iris().data
KINDS = ["full", "tied", "diag", "spherical"]
START = {
    "weights_init": np.array([0.2, 0.3, 0.5]),
    "means_init": X[[0, 60, 120]],
}
PRECISIONS = {
    "full": np.array([np.eye(4) * c for c in (1.0, 2.0, 3.0)]),
    "tied": 2 * np.eye(4),
    "diag": np.ones((3, 4)),
    "spherical": np.array([1.0, 2.0, 3.0]),
}


def test_one_gaussian_is_the_closed_form():
    model = GaussianMixture(reg_covar=0.0).fit([[1.0], [2.0], [3.0]])
    assert model.means_[0, 0] == 2.0
    assert model.covariances_[0, 0, 0] == pytest.approx(2 / 3)
    model = GaussianMixture(reg_covar=0.0).fit(X)
    assert np.allclose(model.covariances_[0], np.cov(X.T, bias=True))
    assert model.certificate_["mixture.score"].value < 1e-8
    assert model.certificate_["mixture.step"].value < 1e-8


@pytest.mark.parametrize("steps", [1, 2, 5, 30])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_same_steps_as_scikit_learn_from_the_same_start(kind, steps):
    options = {**START, "precisions_init": PRECISIONS[kind], "covariance_type": kind, "max_iter": steps, "tol": 0.0}
    ours = GaussianMixture(3, **options).fit(X)
    reference = Reference(3, **options).fit(X)
    for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_", "lower_bounds_"):
        assert np.allclose(getattr(ours, name), getattr(reference, name), rtol=1e-7, atol=1e-9), name
    assert ours.lower_bound_ == pytest.approx(reference.lower_bound_, rel=1e-10)
    assert np.allclose(ours.score_samples(X), reference.score_samples(X), rtol=1e-8)
    assert np.allclose(ours.predict_proba(X), reference.predict_proba(X), atol=1e-8)
    assert np.array_equal(ours.predict(X), reference.predict(X))
    assert ours.bic(X) == pytest.approx(reference.bic(X)) and ours.aic(X) == pytest.approx(reference.aic(X))
    ours.verify(X)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("init", ["kmeans", "k-means++", "random", "random_from_data"])
def test_every_start_climbs(kind, init):
    model = GaussianMixture(3, covariance_type=kind, init_params=init, random_state=1, max_iter=400).fit(X)
    assert np.all(np.diff(model.lower_bounds_) >= -1e-9)
    assert model.converged_
    assert model.certificate_.holds
    model.verify(X)


def test_density_is_the_definition():
    model = GaussianMixture(3, random_state=0).fit(X)
    parts = [multivariate_normal(m, c).pdf(X) for m, c in zip(model.means_, model.covariances_, strict=True)]
    assert np.allclose(model.score_samples(X), np.log(model.weights_ @ np.array(parts)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_score_norm_is_the_gradient(kind):
    """The claim's formula against differences of the log-likelihood, in coordinates where the information is one."""
    options = {**START, "precisions_init": PRECISIONS[kind], "max_iter": 3, "tol": 0.0, "reg_covar": 0.0}
    model = GaussianMixture(3, covariance_type=kind, **options).fit(X)

    def value(weights, means, covariances):
        full = [
            covariances[c] if kind == "full" else covariances if kind == "tied" else _diagonal(covariances[c])
            for c in range(3)
        ]
        parts = [multivariate_normal(m, c).pdf(X) for m, c in zip(means, full, strict=True)]
        return np.mean(np.log(weights @ np.array(parts)))

    p = (model.weights_, model.means_, model.covariances_)
    square, h = 0.0, 1e-5
    for k in range(3):  # weights: the derivative in pi_k, less its mean, against the information 1 / pi_k
        up, down = p[0].copy(), p[0].copy()
        up[k], down[k] = up[k] + h, down[k] - h
        slope = (value(up, *p[1:]) - value(down, *p[1:])) / (2 * h) - 1.0
        square += p[0][k] * slope**2
        root = _root(p[2], kind, k)
        for j in range(4):  # means along whitened axes, against the information pi_k
            up, down = p[1].copy(), p[1].copy()
            up[k], down[k] = up[k] + h * root[:, j], down[k] - h * root[:, j]
            square += ((value(p[0], up, p[2]) - value(p[0], down, p[2])) / (2 * h)) ** 2 / p[0][k]
    square += _covariance_part(lambda covariances: value(p[0], p[1], covariances), p, kind, h)
    assert model.certificate_["mixture.score"].value == pytest.approx(np.sqrt(square), rel=1e-4)


def _diagonal(values):
    return np.diag(np.broadcast_to(values, (4,)))


def _root(covariances, kind, k):
    if kind in ("full", "tied"):
        return np.linalg.cholesky(covariances[k] if kind == "full" else covariances)
    return np.sqrt(_diagonal(covariances[k]))


def _covariance_part(value, p, kind, h):
    """Squared slopes along whitened symmetric directions of Frobenius norm one; the information is pi / 2."""
    total = 0.0
    for k in range(1 if kind == "tied" else 3):
        root, weight = _root(p[2], kind, k), 1.0 if kind == "tied" else p[0][k]
        for i in range(4):
            for j in range(i + 1):
                if kind in ("diag", "spherical") and i != j:
                    continue
                E = np.zeros((4, 4))
                E[i, j] = E[j, i] = 1.0 if i == j else np.sqrt(0.5)
                if kind == "spherical":
                    if i > 0:
                        continue
                    E = np.eye(4) / 2.0
                change = root @ E @ root.T
                up, down = p[2].copy(), p[2].copy()
                if kind == "tied":
                    up, down = up + h * change, down - h * change
                elif kind == "full":
                    up[k], down[k] = up[k] + h * change, down[k] - h * change
                else:
                    step = np.diag(change) if kind == "diag" else change[0, 0]
                    up[k], down[k] = up[k] + h * step, down[k] - h * step
                total += ((value(up) - value(down)) / (2 * h)) ** 2 / (weight / 2)
    return total


@settings(deadline=None, max_examples=12)
@given(seed=st.integers(0, 10**6), kind=st.sampled_from(KINDS), init=st.sampled_from(["kmeans", "random", "k-means++"]))
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weight_is_repetition_whatever_the_order_of_the_rows(seed, kind, init):
    rng = np.random.default_rng(seed)
    rows, weights = rng.standard_normal((30, 2)), rng.integers(0, 4, 30)
    repeated = rows.repeat(weights, axis=0)[rng.permutation(weights.sum())]
    options = {"covariance_type": kind, "init_params": init, "random_state": seed, "max_iter": 8, "reg_covar": 1e-2}
    one = GaussianMixture(2, **options).fit(rows, sample_weight=weights)
    many = GaussianMixture(2, **options).fit(repeated)
    assert np.allclose(one.means_, many.means_, rtol=1e-6, atol=1e-6)
    assert np.allclose(one.covariances_, many.covariances_, rtol=1e-6, atol=1e-6)
    assert one.lower_bound_ == pytest.approx(many.lower_bound_, rel=1e-8)
    assert one.bic(rows, weights) == pytest.approx(many.bic(repeated))
    one.verify(rows, sample_weight=weights)


@pytest.mark.parametrize("kind", KINDS)
def test_same_bits_for_any_number_of_threads(kind):
    rows = np.random.default_rng(0).standard_normal((30_000, 3))
    models = [GaussianMixture(4, covariance_type=kind, random_state=0, tol=0.1, n_jobs=n).fit(rows) for n in (1, 2, 4)]
    for other in models[1:]:
        for name in ("weights_", "means_", "covariances_"):
            assert getattr(other, name).tobytes() == getattr(models[0], name).tobytes()


def test_a_component_on_a_single_point_is_held_by_the_floor():
    rows = np.vstack([np.random.default_rng(0).standard_normal((50, 2)), [[100.0, 100.0]]])
    model = GaussianMixture(2, random_state=0).fit(rows)
    lone = int(np.argmin(model.weights_))
    assert np.allclose(model.covariances_[lone], 1e-6 * np.eye(2))
    assert "1 of 2 components are at the covariance floor" in model.certificate_["mixture.step"].statement
    model.verify(rows)
    with pytest.raises(InvalidData, match=r"covariance of component \d is not positive definite; raise reg_covar"):
        GaussianMixture(2, random_state=0, reg_covar=0.0).fit(rows)


def test_far_from_the_origin_the_digits_stay():
    near = GaussianMixture(3, random_state=0).fit(X)
    far = GaussianMixture(3, random_state=0).fit(X + 1e6)
    assert np.allclose(far.covariances_, near.covariances_, atol=1e-6)
    far.verify(X + 1e6)


def test_warm_start_resumes():
    options = {"means_init": START["means_init"], "tol": 0.0, "warm_start": True, "random_state": 0}
    with pytest.warns(ConvergenceWarning, match="last step changed the mean log-likelihood by"):
        model = GaussianMixture(3, max_iter=4, **options).fit(X)
    with pytest.warns(ConvergenceWarning):
        model.fit(X)
    with pytest.warns(ConvergenceWarning):
        whole = GaussianMixture(3, max_iter=8, **options).fit(X)
    assert np.allclose(model.means_, whole.means_, rtol=1e-9)


@pytest.mark.filterwarnings("ignore::surefit.core.errors.ConvergenceWarning")
def test_single_steps_converge_as_one_fit_does():
    whole = GaussianMixture(3, random_state=0, **START).fit(X)
    model = GaussianMixture(3, random_state=0, max_iter=1, warm_start=True, **START)
    steps = next(k for k in range(1, 200) if model.fit(X).converged_)
    assert steps == whole.n_iter_ and np.allclose(model.means_, whole.means_, rtol=1e-9) and model.verify(X)


def test_sample_has_the_moments_of_the_model():
    for kind in KINDS:
        model = GaussianMixture(2, covariance_type=kind, random_state=0).fit(X)
        rows, components = model.sample(4000)
        assert np.bincount(components) == pytest.approx(4000 * model.weights_, abs=150)
        assert np.allclose(rows.mean(axis=0), X.mean(axis=0), atol=0.15)
    with pytest.raises(InvalidParameter, match="n_samples must be an integer >= 1; got 0"):
        model.sample(0)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("means_", lambda a: a + 1e-3),
        ("covariances_", lambda a: a * 1.01),
        ("weights_", lambda a: a[::-1]),
        ("weights_", lambda a: a * 1.1),
        ("precisions_cholesky_", lambda a: a * 1.001),
    ],
)
def test_checker_refuses_changed_parameters(name, change):
    certificate = GaussianMixture(3, random_state=0).fit(X).certificate_
    forged = replace(
        certificate, subject=None, seal="", model={**certificate.model, name: change(certificate.model[name])}
    )
    with pytest.raises(CertificateError, match=r"mixture\."):
        forged.verify(X)


def test_checker_refuses_better_numbers():
    certificate = GaussianMixture(3, random_state=0).fit(X).certificate_
    for name, changes in (
        ("mixture.step", {"value": -1.0}),
        ("mixture.score", {"value": 0.0}),
        ("mixture.likelihood", {"value": 1.0}),
        ("mixture.factors", {"value": 0.0}),
    ):
        claims = tuple(replace(c, **changes) if c.name == name else c for c in certificate.claims)
        with pytest.raises(CertificateError, match=name.replace(".", r"\.")):
            replace(certificate, subject=None, seal="", claims=claims).verify(X)


def test_says_what_it_wants():
    with pytest.raises(InvalidData, match="Expected n_samples >= n_components"):
        GaussianMixture(4).fit(X[:3])
    with pytest.raises(InvalidParameter, match="weights_init must be numbers >= 0 that sum to 1"):
        GaussianMixture(2, weights_init=[0.5, 0.6]).fit(X)
    with pytest.raises(InvalidParameter, match=r"means_init must be an array of shape \(2, 4\)"):
        GaussianMixture(2, means_init=X[:3]).fit(X)
    with pytest.raises(InvalidParameter, match="precisions_init must be symmetric and positive definite"):
        GaussianMixture(1, precisions_init=[-np.eye(4)]).fit(X)
    with pytest.raises(InvalidParameter, match="max_iter must be 0, or an integer >= 1; got -1"):
        GaussianMixture(max_iter=-1).fit(X)
    with pytest.raises(InvalidData, match="squares of X overflow"):
        GaussianMixture().fit([[1e200], [-1e200]])


def test_a_row_whose_squares_hide_all_others_is_named():
    X = np.vstack([np.random.default_rng(7).normal(size=(60, 4)), np.full(4, 1e9)])
    with pytest.raises(InvalidData, match=r"not positive definite.*Row 60 is 1e\+09 away from the median"):
        GaussianMixture().fit(X)
    assert GaussianMixture(covariance_type="diag").fit(X).verify(X)  # nothing to invert: variances of each column
