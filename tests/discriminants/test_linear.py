"""Linear discriminant analysis: numbers by hand, two routes to the same answer, scikit-learn, weights."""

import numpy as np
import pandas as pd
import pytest
import sklearn.discriminant_analysis as theirs
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.covariance import OAS
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine

from surefit import FisherDiscriminant, LinearDiscriminantAnalysis, LogisticRegression, QuadraticDiscriminantAnalysis
from surefit.core import threads
from surefit.core.errors import CertificateError, DataWarning, InvalidData, InvalidParameter

SETTINGS = [
    {},
    {"solver": "lsqr"},
    {"solver": "eigen"},
    {"solver": "lsqr", "shrinkage": 0.1},
    {"solver": "eigen", "shrinkage": 0.3},
    {"solver": "eigen", "shrinkage": "auto"},
    {"solver": "svd", "priors": [0.2, 0.3, 0.5], "store_covariance": True},
    {"solver": "lsqr", "priors": [0.2, 0.3, 0.5]},
    {"solver": "eigen", "priors": [0.2, 0.3, 0.5], "n_components": 1},
    {"solver": "eigen", "covariance_estimator": OAS()},
]


def random_classes(n=120, d=5, k=3, seed=0, far=0.0):
    rng = np.random.default_rng(seed)
    y = np.arange(n) % k
    return rng.standard_normal((k, d))[y] + rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + far, y


def test_two_points_a_class_by_hand():
    # means 1 and 4, variance (divisor n) 1: log-odds = (x - 2.5) * 3
    X, y = np.array([[0.0], [2.0], [3.0], [5.0]]), np.array([0, 0, 1, 1])
    model = LinearDiscriminantAnalysis(store_covariance=True).fit(X, y)
    assert model.covariance_ == pytest.approx(np.array([[1.0]]))
    assert model.decision_function([[0.0], [2.5], [3.5]]) == pytest.approx([-7.5, 0.0, 3.0])
    assert model.predict_proba([[3.5]])[0, 1] == pytest.approx(1 / (1 + np.exp(-3.0)))
    claim = model.certificate_["discriminant.gap"]
    # tr(W^-1 B) = sum of p (m - 2.5)^2 = 2.25
    assert claim.numbers["criterion"] == pytest.approx(2.25) and claim.holds


@pytest.mark.parametrize("options", SETTINGS, ids=str)
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_agrees_with_scikit_learn(load, options):
    X, y = load(return_X_y=True)
    ours = LinearDiscriminantAnalysis(**options).fit(X, y)
    reference = theirs.LinearDiscriminantAnalysis(**options).fit(X, y)
    scores = reference.decision_function(X)
    assert ours.decision_function(X) == pytest.approx(scores, rel=1e-8, abs=1e-8 * np.abs(scores).max())
    assert ours.predict_proba(X) == pytest.approx(reference.predict_proba(X), abs=1e-8)
    assert ours.means_ == pytest.approx(reference.means_) and ours.priors_ == pytest.approx(reference.priors_)
    if options.get("solver") != "lsqr":
        assert np.abs(ours.transform(X)) == pytest.approx(np.abs(reference.transform(X)), rel=1e-6, abs=1e-7)
        ratios = reference.explained_variance_ratio_
        assert ours.explained_variance_ratio_ == pytest.approx(ratios, rel=1e-7, abs=1e-9)
        assert list(ours.get_feature_names_out()) == list(reference.get_feature_names_out())
    if hasattr(reference, "covariance_"):
        assert ours.covariance_ == pytest.approx(reference.covariance_, rel=1e-8, abs=1e-10)
    found = ours.verify(X, y)
    assert ours.certificate_.holds
    assert found["discriminant.gap"].proved <= 1e-10


def test_singular_scatter_agrees_and_says_what_it_left_out():
    X, y = load_digits(return_X_y=True)  # three pixels are always white
    ours, reference = LinearDiscriminantAnalysis().fit(X, y), theirs.LinearDiscriminantAnalysis().fit(X, y)
    assert ours.decision_function(X) == pytest.approx(reference.decision_function(X), abs=1e-9)
    assert ours.certificate_.grade == "B" and ours.certificate_["discriminant.discarded"].kind == "no_claim"
    assert ours.verify(X, y)["discriminant.restricted_gap"].proved <= 1e-8 and ours.certificate_.holds
    by_lsqr = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    assert by_lsqr.certificate_.grade == "C"
    by_lsqr.verify(X, y)
    with pytest.raises(InvalidData, match="singular; set shrinkage"):
        LinearDiscriminantAnalysis(solver="eigen").fit(X, y)


def test_fewer_rows_than_columns():
    X, y = random_classes(30, 80)
    ours, reference = LinearDiscriminantAnalysis().fit(X, y), theirs.LinearDiscriminantAnalysis().fit(X, y)
    scores = reference.decision_function(X)
    assert ours.decision_function(X) == pytest.approx(scores, rel=1e-8, abs=1e-8 * np.abs(scores).max())
    ours.verify(X, y)


def test_stated_numbers_bound_the_truth():
    X, y = random_classes()
    model = LinearDiscriminantAnalysis(solver="lsqr").fit(X, y)
    W, p, m = model.covariance_, model.priors_, model.means_
    about = m - p @ m
    best = np.trace(np.linalg.solve(W, (about.T * p) @ about))
    rule = model.coef_ - p @ model.coef_
    value = p @ (2 * np.sum(rule * about, axis=1) - np.sum(rule * (rule @ W), axis=1))
    assert best - value <= model.certificate_["discriminant.gap"].value + 1e-12 * best
    # the same at a spoiled rule: the excess is the sum of squared residuals in the norm of the inverse, exactly
    spoiled = rule * 1.01
    residual = about - spoiled @ W
    lost = p @ np.sum(residual * np.linalg.solve(W, residual.T).T, axis=1)
    value = p @ (2 * np.sum(spoiled * about, axis=1) - np.sum(spoiled * (spoiled @ W), axis=1))
    assert best - value == pytest.approx(lost, rel=1e-9)


def test_directions_are_eigenvectors_and_none_is_missed():
    X, y = random_classes(k=4, d=6)
    model = LinearDiscriminantAnalysis(n_components=2).fit(X, y)
    claim = model.certificate_["discriminant.directions"]
    m, p = model.means_, model.priors_
    W = sum((X[y == k] - m[k]).T @ (X[y == k] - m[k]) for k in range(4)) / len(X)
    B = ((m - p @ m).T * p) @ (m - p @ m)
    values = np.sort(np.linalg.eigvals(np.linalg.solve(W, B)).real)[::-1]
    assert claim.numbers["count"] == 2 and claim.holds
    threshold = model.certificate_["discriminant.complete"].numbers["threshold"]
    assert values[1] > threshold > values[2]
    V = model.scalings_
    assert V.T @ W @ V == pytest.approx(np.eye(3), abs=1e-10)


def test_every_route_gives_the_same_rule():
    X, y = random_classes()
    scores = [
        LinearDiscriminantAnalysis(solver=solver, tol=tol).fit(X, y).predict_log_proba(X)
        for solver, tol in (("svd", 1e-4), ("svd", 0.9e-3), ("svd", 2e-3), ("lsqr", 0.0), ("eigen", 0.0))
    ]
    for other in scores[1:]:  # from tol = 1e-3 on the rows are used, below it the matrix
        assert other == pytest.approx(scores[0], abs=1e-9)


def test_ill_conditioned_columns_are_read_from_the_rows():
    X, y = random_classes(200, 3)
    X = np.column_stack([X, X[:, 0] + 1e-3 * np.random.default_rng(1).standard_normal(200)])
    X[:, 1] *= 1e6
    ours, reference = LinearDiscriminantAnalysis().fit(X, y), theirs.LinearDiscriminantAnalysis().fit(X, y)
    assert ours.certificate_.run["solver"] == "rows"
    scores = reference.decision_function(X)
    assert ours.decision_function(X) == pytest.approx(scores, rel=1e-8, abs=1e-8 * np.abs(scores).max())
    ours.verify(X, y)


@pytest.mark.parametrize("solver", ["svd", "lsqr", "eigen"])
def test_data_far_from_the_origin_keep_their_digits(solver):
    X, y = random_classes()
    X = np.round(X * 2**20) / 2**20  # so that the shift is exact
    near = LinearDiscriminantAnalysis(solver=solver).fit(X, y)
    far = LinearDiscriminantAnalysis(solver=solver).fit(X + 2.0**20, y)
    assert far.coef_ - far.priors_ @ far.coef_ == pytest.approx(
        near.coef_ - near.priors_ @ near.coef_, rel=1e-8, abs=1e-8
    )
    far.verify(X + 2.0**20, y)


@pytest.mark.parametrize("options", [o for o in SETTINGS if "covariance_estimator" not in o], ids=str)
@given(weights=st.lists(st.integers(0, 3), min_size=30, max_size=30))
@settings(max_examples=8)
def test_weights_are_repetitions(options, weights):
    X, y = random_classes(30, 3)
    weights = np.array([max(w, 1) if i < 15 else w for i, w in enumerate(weights)])
    weighted = LinearDiscriminantAnalysis(**options).fit(X, y, sample_weight=weights)
    repeated = LinearDiscriminantAnalysis(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.predict_log_proba(X) == pytest.approx(repeated.predict_log_proba(X), rel=1e-7, abs=1e-7)
    weighted.verify(X, y, sample_weight=weights)


@pytest.mark.parametrize("options", SETTINGS[:6], ids=str)
def test_sparse_and_fortran_rows_give_the_same_model(options):
    X, y = random_classes()
    X[np.abs(X) < 0.5] = 0.0
    dense = LinearDiscriminantAnalysis(**options).fit(X, y)
    for other in (sparse.csr_array(X), sparse.csc_array(X), np.asfortranarray(X)):
        model = LinearDiscriminantAnalysis(**options).fit(other, y)
        assert model.coef_ == pytest.approx(dense.coef_, rel=1e-9, abs=1e-10)
        assert model.predict_proba(other) == pytest.approx(dense.predict_proba(X), abs=1e-9)
        model.verify(other, y)


def test_logistic_form_has_the_same_probabilities():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    assert model.to_logistic().probabilities(X) == pytest.approx(model.predict_proba(X), abs=1e-14)
    two = LinearDiscriminantAnalysis(priors=[0.5, 0.5]).fit(X[y > 0], y[y > 0])
    assert two.to_logistic().probabilities(X) == pytest.approx(two.predict_proba(X), abs=1e-14)
    # the formulas of the Gaussian model with equal priors
    m0, m1 = two.means_
    W = sum((X[y == k + 1] - m).T @ (X[y == k + 1] - m) for k, m in enumerate((m0, m1))) / 100
    assert two.coef_[0] == pytest.approx(np.linalg.solve(W, m1 - m0))
    expected = (m0 @ np.linalg.solve(W, m0) - m1 @ np.linalg.solve(W, m1)) / 2
    assert two.intercept_[0] == pytest.approx(expected)


def test_logistic_regression_converges_to_it_on_gaussian_classes():
    rng = np.random.default_rng(0)
    y = np.arange(100_000) % 2
    X = rng.standard_normal((100_000, 2)) + np.outer(y, [1.0, -0.5])
    ours = LinearDiscriminantAnalysis().fit(X, y)
    other = LogisticRegression(C=np.inf).fit(X, y)
    assert ours.coef_ == pytest.approx(np.array([[1.0, -0.5]]), abs=0.03)
    assert other.coef_ == pytest.approx(ours.coef_, abs=0.01)


def test_text_labels_and_log_probabilities_far_out():
    X, y = load_breast_cancer(return_X_y=True)
    names = np.array(["good", "bad"])[y]
    model = LinearDiscriminantAnalysis().fit(X, names)
    assert set(model.predict(X)) == {"good", "bad"} and model.verify(X, names)
    far = X[:1] * 1e4
    assert np.isfinite(model.predict_log_proba(far)).all() and model.predict_log_proba(far).min() < -1000


def test_equal_means_give_a_flat_rule():
    X = np.array([[-1.0, 0.5], [1.0, -0.5], [-1.0, 0.5], [1.0, -0.5], [0.0, 1.0], [0.0, 1.0], [0.0, -1.0], [0.0, -1.0]])
    model = LinearDiscriminantAnalysis().fit(X, [0, 0, 1, 1, 0, 1, 0, 1])
    assert not model.coef_.any() and model.predict_proba(X) == pytest.approx(np.full((8, 2), 0.5))
    model.verify(X, [0, 0, 1, 1, 0, 1, 0, 1])


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shrinkage": 0.1}, "'lsqr' or 'eigen' with shrinkage"),
        ({"covariance_estimator": OAS()}, "'lsqr' or 'eigen' with covariance_estimator"),
        ({"solver": "lsqr", "covariance_estimator": OAS(), "shrinkage": 0.1}, "None with covariance_estimator"),
        ({"n_components": 3}, "n_classes - 1\\) = 2"),
        ({"priors": [0.5, 0.5]}, "priors must be 3 numbers >= 0"),
        ({"priors": [0.5, 0.7, -0.2]}, "priors must be 3 numbers >= 0"),
        ({"shrinkage": 2.0, "solver": "eigen"}, "number from 0 to 1"),
    ],
    ids=str,
)
def test_contradictions_are_refused(options, words):
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameter, match=words):
        LinearDiscriminantAnalysis(**options).fit(X, y)


def test_other_refusals():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(InvalidParameter, match="'svd' or 'eigen' for transform"):
        LinearDiscriminantAnalysis(solver="lsqr").fit(X, y).transform(X)
    for solver in ("svd", "lsqr", "eigen"):
        with pytest.raises(InvalidData, match="rows of each class are equal"):
            LinearDiscriminantAnalysis(solver=solver).fit(X[[0, 60, 120]], [0, 1, 2])
    with pytest.raises(InvalidData, match="no row of positive weight"):
        LinearDiscriminantAnalysis().fit(X, y, sample_weight=(y > 0).astype(float))
    with pytest.raises(InvalidParameter, match="None with sample_weight"):
        LinearDiscriminantAnalysis(solver="lsqr", covariance_estimator=OAS()).fit(X, y, sample_weight=np.ones(150))
    with pytest.warns(DataWarning, match="sum to 2"):
        model = LinearDiscriminantAnalysis(priors=[1.0, 0.5, 0.5]).fit(X, y)
    assert model.priors_ == pytest.approx([0.5, 0.25, 0.25])


@pytest.mark.parametrize("cls", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_a_covariance_estimator_is_any_object_with_fit(cls):
    class Plain:
        def fit(self, X):
            self.covariance_ = OAS().fit(X).covariance_

    X, y = load_iris(return_X_y=True)
    plain, known = (cls(solver="eigen", covariance_estimator=each).fit(X, y) for each in (Plain(), OAS()))
    assert np.array_equal(plain.predict_proba(X), known.predict_proba(X)) and plain.verify(X, y)


@pytest.mark.parametrize("cls", [FisherDiscriminant, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_entries_whose_squares_overflow_are_refused(cls):
    X, y = random_classes(40, 3, 2)
    with pytest.raises(InvalidData, match="sums of their squares overflow"):
        cls().fit(X * 1e200, y)


@pytest.mark.parametrize("cls", [FisherDiscriminant, LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
@pytest.mark.parametrize("kind", ["float32", "object labels", "booleans", "frame"])
def test_every_kind_of_table_and_label(cls, kind):
    X, y = random_classes(60, 3, 2)
    plain = cls().fit(X, y)
    rows, labels = X, y
    if kind == "float32":
        rows = X.astype(np.float32)
    elif kind == "object labels":
        labels = np.array(["a", "b"], dtype=object)[y]
    elif kind == "booleans":
        labels = y.astype(bool)
    else:
        rows = pd.DataFrame(X, columns=["u", "v", "w"])
    model = cls().fit(rows, labels)
    assert model.predict_proba(rows) == pytest.approx(plain.predict_proba(X), abs=1e-4 if kind == "float32" else 1e-12)
    assert np.array_equal(model.predict(rows) == model.classes_[1], plain.predict(X) == 1)
    model.verify(rows, labels)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("cls", [LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis])
def test_threads_share_the_rows_without_changing_a_bit(cls, weighted, monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=9000)
    X, weights = rng.standard_normal((9000, 4)) + y[:, None], rng.uniform(0.1, 1, 9000) if weighted else None
    whole = cls().fit(X, y, weights)
    monkeypatch.setattr(threads, "THREADED", 1)
    models = []
    for count in (1, 3):
        monkeypatch.setattr(threads, "blas_threads", lambda count=count: count)
        models.append(cls().fit(X, y, weights))
    assert models[0].means_.tobytes() == models[1].means_.tobytes()
    assert len({tuple(claim.value for claim in model.certificate_.claims) for model in models}) == 1
    assert models[0].predict_proba(X).tobytes() == models[1].predict_proba(X).tobytes()
    assert models[0].verify(X, y, weights)
    np.testing.assert_allclose(models[0].predict_proba(X), whole.predict_proba(X), rtol=1e-9)


def test_a_zero_prior_excludes_a_class():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis(priors=[0.5, 0.5, 0.0]).fit(X, y)
    assert set(model.predict(X)) == {0, 1} and not model.predict_proba(X)[:, 2].any()
    model.verify(X, y)


def test_changed_coefficients_are_noticed():
    X, y = load_iris(return_X_y=True)
    model = LinearDiscriminantAnalysis().fit(X, y)
    model.coef_ = model.coef_ * (1 + 1e-6)
    with pytest.raises(CertificateError, match="coef_ was changed"):
        model.verify(X, y)
