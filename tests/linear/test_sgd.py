"""Stochastic gradient descent of linear models: scikit-learn's iterates, exact means, weights as repetitions, honest gaps."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn import linear_model as theirs
from sklearn.datasets import load_iris

from surefit import (
    CertificateError,
    InvalidData,
    InvalidParameter,
    LinearSVC,
    LogisticRegression,
    Ridge,
    SGDClassifier,
    SGDRegressor,
)
from surefit.core.errors import ConvergenceWarning
from surefit.solvers.sgd import passes

LOSSES = [
    "hinge", "log_loss", "modified_huber", "squared_hinge", "perceptron", "squared_error", "huber",
    "epsilon_insensitive", "squared_epsilon_insensitive",
]  # fmt: skip
FIXED = {"tol": None, "shuffle": False, "max_iter": 3}
pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


def problem(seed=0, n=60, d=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, np.where(X[:, 0] - X[:, 1] + rng.standard_normal(n) > 0.3, 1, 0)


def regression(seed=0, n=60, d=5):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return X, X @ np.arange(1.0, d + 1) + 0.3 * rng.standard_normal(n) + 2.0


# --- worked numbers and exact identities ------------------------------------------------------------------------------


def test_two_steps_by_hand():
    X, y = np.array([[1.0], [2.0]]), np.array([2.0, 1.0])
    model = SGDRegressor(penalty=None, learning_rate="constant", eta0=0.5, **{**FIXED, "max_iter": 1}).fit(X, y)
    # visit 1: z = 0, slope -2, w = 1, b = 1. visit 2: z = 3, slope 2, w = 1 - 0.5 * 2 * 2 = -1, b = 0
    assert model.coef_[0] == -1.0 and model.intercept_[0] == 0.0 and model.t_ == 3.0


def test_logistic_steps_are_soft_perceptron_steps():
    # a step is eta t x (1 - p); for scores far from zero it is the perceptron's: t x on a mistake, nothing else
    X = np.array([[1.0, 2.0]])
    start = dict(coef_init=[[-400.0, -400.0]], intercept_init=[0.0])
    settings = dict(penalty=None, learning_rate="constant", eta0=1.0, fit_intercept=False, **{**FIXED, "max_iter": 1})
    both = np.vstack([X, -X]), [1, 0]
    soft = SGDClassifier("log_loss", **settings).fit(*both, **start)
    hard = SGDClassifier("perceptron", **settings).fit(*both, **start)
    np.testing.assert_allclose(soft.coef_, hard.coef_, rtol=1e-12)
    np.testing.assert_allclose(hard.coef_, [[-398.0, -396.0]])


@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_the_average_is_the_mean_of_all_iterates(penalty, container):
    X, y = problem(1, 30)
    settings = dict(penalty=penalty, alpha=0.03, shuffle=False, learning_rate="constant", eta0=0.2)
    last, sums = SGDClassifier("log_loss", **settings), []
    l1 = {"l1": 0.03, "elasticnet": 0.03 * 0.15}.get(penalty, 0.0)
    for i in range(30):  # rows are whole here, so every weight pays at every visit; the mean counts it before it pays
        last.partial_fit(container(X[i : i + 1]), y[i : i + 1], classes=[0, 1])
        sums.append(last.coef_.copy())
    model = SGDClassifier("log_loss", average=True, max_iter=1, tol=None, **settings).fit(container(X), y)
    slack = 0.2 * l1 + 1e-12
    np.testing.assert_allclose(model.coef_, np.mean(sums, axis=0), atol=slack, rtol=0)
    if not l1:
        np.testing.assert_allclose(model.coef_, np.mean(sums, axis=0), rtol=1e-10)


def test_a_scale_that_reaches_zero_forgets_the_weights_but_not_their_mean():
    X, y = problem(2, 20)
    model = SGDClassifier(alpha=1.0, learning_rate="constant", eta0=1.0, average=True, **FIXED).fit(X, y)
    w, b, seen = np.zeros(5), 0.0, []
    for x, t in 3 * list(zip(X, 2 * y - 1, strict=True)):
        step = t * (t * (x @ w + b) < 1)
        w, b = step * x, b + step  # 1 - eta alpha is zero: nothing is left of the old weights
        seen.append(w)
    np.testing.assert_allclose(model.coef_[0], np.mean(seen, axis=0), rtol=1e-12)


# --- the same iterates as an independent implementation ---------------------------------------------------------------


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("penalty", ["l2", "l1", "elasticnet", None])
def test_iterates_of_classification_are_those_of_scikit_learn(loss, penalty):
    X, y = problem(3)
    for rate in ("optimal", "invscaling", "constant", "adaptive"):
        if rate == "optimal" and "squared" in loss:
            continue  # its first steps are so long that a square overflows what double precision can compare
        settings = dict(loss=loss, penalty=penalty, alpha=0.01, learning_rate=rate, **FIXED)
        ours, other = SGDClassifier(**settings).fit(X, y), theirs.SGDClassifier(**settings).fit(X, y)
        np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-8, atol=1e-12)
        ours.verify(X, y)


@pytest.mark.parametrize("loss", ["squared_error", "huber", "epsilon_insensitive", "squared_epsilon_insensitive"])
def test_iterates_of_regression_are_those_of_scikit_learn(loss):
    X, y = regression(4)
    for penalty in ("l2", "elasticnet"):
        for average in (False, 7):
            if average and penalty == "elasticnet":
                continue  # scikit-learn's running mean leaves out what the l1 penalty takes away
            settings = dict(loss=loss, penalty=penalty, average=average, **FIXED)
            ours, other = SGDRegressor(**settings).fit(X, y), theirs.SGDRegressor(**settings).fit(X, y)
            np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-9)
            np.testing.assert_allclose(ours.intercept_, other.intercept_, rtol=1e-9)
            ours.verify(X, y)


@pytest.mark.parametrize("rate", ["pa1", "pa2"])
def test_passive_aggressive_steps(rate):
    X, y = problem(5)
    settings = dict(loss="hinge", penalty=None, learning_rate=rate, eta0=0.5, **FIXED)
    ours, other = SGDClassifier(**settings).fit(X, y), theirs.SGDClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-10)
    X, y = regression(5)
    settings["loss"] = "epsilon_insensitive"
    ours, other = SGDRegressor(**settings).fit(X, y), theirs.SGDRegressor(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-10)
    with pytest.raises(InvalidParameter, match="passive-aggressive"):
        SGDClassifier("log_loss", learning_rate=rate).fit(*problem())


def test_several_classes_and_their_probabilities():
    X, y = load_iris(return_X_y=True)
    settings = dict(loss="log_loss", alpha=0.01, **FIXED)
    ours, other = SGDClassifier(n_jobs=2, **settings).fit(X, y), theirs.SGDClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-9)
    np.testing.assert_allclose(ours.predict_proba(X), other.predict_proba(X), atol=1e-9)
    ours.verify(X, y)
    for model in (SGDClassifier("modified_huber", **FIXED), SGDClassifier("modified_huber", alpha=5.0, **FIXED)):
        P = model.fit(X, y).predict_proba(X)
        np.testing.assert_allclose(P.sum(axis=1), 1.0)
    assert not hasattr(SGDClassifier("hinge"), "predict_proba")


# --- weights, order, storage ------------------------------------------------------------------------------------------


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(["hinge", "log_loss", "squared_error"]), st.booleans())
def test_weights_are_repetitions_and_the_order_of_the_rows_is_nothing(seed, loss, average):
    rng = np.random.default_rng(seed)
    X, y = rng.integers(-3, 4, (12, 3)).astype(float), rng.integers(0, 2, 12)
    y[:2] = [0, 1]
    weights = rng.integers(0, 4, 12)
    weights[:2] = 1
    settings = dict(alpha=0.1, random_state=7, max_iter=20, average=average, eta0=0.02, learning_rate="constant")
    plain = SGDClassifier(loss, **settings).fit(X, y, sample_weight=weights)
    chosen = rng.permutation(np.repeat(np.arange(12), weights))
    repeated = SGDClassifier(loss, **settings).fit(X[chosen], y[chosen])
    np.testing.assert_array_equal(plain.coef_, repeated.coef_)
    assert plain.n_iter_ == repeated.n_iter_
    assert plain.dual_gap_ == pytest.approx(repeated.dual_gap_, rel=1e-9, abs=1e-12)
    plain.verify(X, y, sample_weight=weights)


@pytest.mark.parametrize("factor", [1e-150, 0.3, 1e6, 1e150])
def test_only_the_ratios_of_weights_count(factor):
    X, y = problem(6)
    weights = np.random.default_rng(6).uniform(0.5, 2.0, len(y))
    one = SGDClassifier("log_loss", random_state=0, max_iter=5).fit(X, y, sample_weight=weights)
    many = SGDClassifier("log_loss", random_state=0, max_iter=5).fit(X, y, sample_weight=factor * weights)
    np.testing.assert_allclose(many.coef_, one.coef_, rtol=1e-9)
    many.verify(X, y, sample_weight=factor * weights)


@pytest.mark.parametrize("container", [np.asfortranarray, sparse.csr_array, sparse.csc_array, np.float32])
def test_storage_does_not_matter(container):
    X, y = problem(7, 80)
    X[np.abs(X) < 0.4] = 0.0
    X = X.astype(np.float32).astype(np.float64)
    for penalty in ("l2", None):
        dense = SGDClassifier(penalty=penalty, random_state=1, max_iter=5).fit(X, y)
        other = SGDClassifier(penalty=penalty, random_state=1, max_iter=5).fit(container(X), y)
        np.testing.assert_allclose(other.coef_, dense.coef_, rtol=1e-7)
        other.verify(container(X), y)


def test_class_weights_are_factors_of_the_loss():
    X, y = problem(8)
    settings = dict(loss="log_loss", alpha=0.1, class_weight={0: 1.0, 1: 3.0}, **FIXED)
    ours, other = SGDClassifier(**settings).fit(X, y), theirs.SGDClassifier(**settings).fit(X, y)
    np.testing.assert_allclose(ours.coef_, other.coef_, rtol=1e-9)
    ours.verify(X, y)
    balanced = SGDClassifier(class_weight="balanced", random_state=0).fit(X, y)
    assert balanced.certificate_.problem["class_weights"] == pytest.approx(60 / (2 * np.bincount(y)))


# --- the gap is a bound -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("alpha", [0.3, 0.01])
@pytest.mark.parametrize("max_iter", [1, 20, 400])
def test_the_gap_bounds_the_distance_to_the_exact_optimum(alpha, max_iter):
    X, y = problem(9, 100)
    t, n = 2 * y - 1, 100
    C = 1 / (n * alpha)
    exact = LogisticRegression(C=C, tol=1e-12).fit(X, y)
    z = exact.decision_function(X)
    best = np.mean(np.log1p(np.exp(-t * z))) + alpha / 2 * np.sum(exact.coef_**2)
    model = SGDClassifier("log_loss", alpha=alpha, max_iter=max_iter, tol=None, random_state=0).fit(X, y)
    margin = 2e-10 * best  # objectives of smooth losses are stated for two proofs, which may differ by this
    assert -1e-12 <= model.objective_ - best <= model.dual_gap_ + margin
    reach = model.certificate_["linear.distance"].value
    assert np.linalg.norm(model.coef_ - exact.coef_) <= reach + 1e-9
    exact = LinearSVC(C=C, tol=1e-9).fit(X, y)
    best = np.mean(np.maximum(1 - t * exact.decision_function(X), 0)) + alpha / 2 * np.sum(exact.coef_**2)
    model = SGDClassifier(alpha=alpha, max_iter=max_iter, tol=None, random_state=0).fit(X, y)
    assert -1e-8 <= model.objective_ - best <= model.dual_gap_ + 1e-8
    model.verify(X, y)
    assert model.dual_gap_ <= model.objective_


def test_long_descents_have_small_gaps():
    X, y = regression(10, 200)
    model = SGDRegressor(
        alpha=0.1, learning_rate="invscaling", eta0=0.05, power_t=0.6, max_iter=3000, tol=None, random_state=0
    ).fit(X, y)
    exact = Ridge(alpha=0.1 * 200, tol=1e-12).fit(X, y)
    np.testing.assert_allclose(model.coef_, exact.coef_, atol=0.01)
    assert model.dual_gap_ < 1e-3 * model.objective_
    model.verify(X, y)


@pytest.mark.parametrize("loss", ["hinge", "log_loss", "modified_huber", "squared_hinge", "epsilon_insensitive"])
@pytest.mark.parametrize("intercept", [True, False])
def test_a_second_point_sharpens_the_bound_where_the_penalty_is_weak(loss, intercept):
    X, y = problem(18, 500)
    steps = dict(learning_rate="invscaling", eta0=0.05, random_state=0)
    model = SGDClassifier(loss, alpha=1e-4, average=True, fit_intercept=intercept, **steps).fit(X, y)
    assert model.dual_gap_ < 0.5 * model.objective_
    claim = model.certificate_["linear.gap"]
    assert claim.witness["point_0"].shape == (6,) and (intercept or claim.witness["point_0"][-1] == 0.0)
    model.verify(X, y)


def test_any_second_point_gives_a_bound_though_not_the_claimed_one():
    from dataclasses import replace

    X, y = problem(19, 200)
    certificate = SGDClassifier("log_loss", alpha=1e-3, random_state=0).fit(X, y).certificate_
    claim = replace(certificate["linear.gap"], witness={"point_0": np.ones(6)})
    with pytest.raises(CertificateError, match=r"linear\.gap"):
        replace(certificate, claims=(claim, *certificate.claims[1:]), seal="", subject=None).verify(X, y)
    generous = replace(claim, value=certificate["linear.gap"].numbers["objective"])
    distance = replace(certificate["linear.distance"], value=1e3)
    replace(certificate, claims=(generous, distance), seal="", subject=None).verify(X, y)


def test_a_false_claim_is_refused():
    from dataclasses import replace

    X, y = problem(11)
    for loss in LOSSES:
        certificate = (
            SGDClassifier(loss, alpha=0.1, learning_rate="constant", max_iter=2, random_state=0).fit(X, y).certificate_
        )
        claim = replace(certificate["linear.gap"], value=0.5 * certificate["linear.gap"].value - 1e-6)
        forged = replace(certificate, claims=(claim, *certificate.claims[1:]), seal="", subject=None)
        with pytest.raises(CertificateError, match=r"linear\.gap"):
            forged.verify(X, y)


# --- stopping, streams, odd input -------------------------------------------------------------------------------------


def test_stopping_and_its_reasons():
    X, y = problem(12, 200)
    model = SGDClassifier(random_state=0).fit(X, y)
    assert model.certificate_.run["reason"] == "converged" and model.n_iter_ < 1000
    assert len(model.history_) == model.n_iter_ and np.all(np.diff(model.history_[:, 0]) >= 0)
    with pytest.warns(ConvergenceWarning, match="within .* of the minimum"):
        SGDClassifier(max_iter=2, tol=1e-9).fit(X, y)
    quick = SGDClassifier(max_iter=10**6, tol=None, max_time=0.05).fit(X, y)
    assert quick.certificate_.run["reason"] == "max_time"
    quick.verify(X, y)
    slow = SGDClassifier(learning_rate="adaptive", eta0=0.1, random_state=0).fit(X, y)
    assert slow.n_iter_ >= 5 * 5  # every division by five waits for five stale passes, and 0.1 needs eight of them


def test_early_stopping_sets_rows_aside():
    X, y = problem(13, 300)
    model = SGDClassifier(early_stopping=True, random_state=0).fit(X, y)
    assert model.t_ == 1 + model.n_iter_ * 270 and np.all(model.history_[:, 2] >= -1.0)
    model.verify(X, y)
    model = SGDRegressor(early_stopping=True, random_state=0).fit(*regression(13, 300))
    assert model.t_ == 1 + model.n_iter_ * 270
    with pytest.raises(InvalidParameter, match="validation_fraction"):
        SGDClassifier(early_stopping=True).fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("penalty", ["l2", "elasticnet"])
@pytest.mark.parametrize("average", [False, True])
def test_a_stream_is_the_same_walk(penalty, average):
    X, y = regression(14)
    settings = dict(penalty=penalty, average=average, shuffle=False)
    whole = SGDRegressor(max_iter=1, tol=None, **settings).fit(X, y)
    parts = SGDRegressor(**settings)
    for rows in np.array_split(np.arange(len(y)), 7):
        parts.partial_fit(X[rows], y[rows])
    np.testing.assert_allclose(parts.coef_, whole.coef_, rtol=1e-12)
    assert parts.t_ == whole.t_
    parts.verify(X[rows], y[rows])


def test_starts():
    X, y = problem(15)
    cold = SGDClassifier(random_state=0, warm_start=True).fit(X, y)
    before = cold.objective_
    cold.set_params(max_iter=3, learning_rate="constant", eta0=1e-6, tol=None).fit(X, y)
    assert cold.objective_ == pytest.approx(before, rel=1e-3)
    with pytest.raises(InvalidParameter, match="coef_init must be 5 numbers"):
        SGDClassifier().fit(X, y, coef_init=[1.0, 2.0])


def test_streams_say_what_they_need():
    X, y = problem(16)
    with pytest.raises(InvalidParameter, match="classes must be all labels"):
        SGDClassifier().partial_fit(X, y)
    with pytest.raises(InvalidParameter, match="class_weight"):
        SGDClassifier(class_weight="balanced").partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidParameter, match="early_stopping"):
        SGDRegressor(early_stopping=True).partial_fit(X, y)
    model = SGDClassifier().partial_fit(X, y, classes=[0, 1])
    with pytest.raises(InvalidData, match="row 3 has the label"):
        model.partial_fit(X, np.where(np.arange(60) == 3, 9, y))
    with pytest.raises(InvalidParameter, match="the same as on last call"):
        model.partial_fit(X, y, classes=[0, 2])


def test_steps_that_overflow_name_the_cure():
    X, y = regression(17)
    with pytest.raises(InvalidData, match=r"overflowed in pass \d+.*scale the columns"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        SGDRegressor(learning_rate="constant", eta0=1.0, tol=None).fit(1e300 * X, y)
    with pytest.raises(InvalidParameter, match="alpha must be a number > 0"):
        SGDClassifier(alpha=0.0).fit(*problem())


def test_a_float32_target_gives_the_model_of_float64_without_a_warning():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(40, 3)), rng.normal(size=40).astype(np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        models = [SGDRegressor(random_state=0).fit(X, target) for target in (y, y.astype(np.float64))]
    assert np.array_equal(models[0].coef_, models[1].coef_)


@pytest.mark.parametrize("mass", [0.0, 7.5])
def test_l1_penalty_of_all_weights_is_that_of_single_weights(mass):
    rng = np.random.default_rng(3)
    v, paid = rng.normal(size=60), 0.3 * rng.normal(size=60)
    v[[4, 9]] = 0.0, np.nan  # NaN must remain, so that an overflow is noticed
    lag = rng.normal(size=60 if mass else 0)
    one, together = [each.copy() for each in (v, paid, lag)], [each.copy() for each in (v, paid, lag)]
    for j in range(60):
        passes._pay(j, one[0], one[1], 0.7, 0.5, mass, one[2])
    passes._pay_all(together[0], together[1], 0.7, 0.5, mass, together[2])
    assert np.sum(together[0] == 0.0) > 10 and np.isnan(together[0][9])
    keep = np.arange(60) != 9
    for wanted, found in zip(one, together, strict=True):
        np.testing.assert_allclose(found[keep[: len(found)]], wanted[keep[: len(found)]], rtol=1e-14, atol=1e-15)
