"""Fisher's rule: exact numbers of the two-triangle example, four equal predictors, invariances, weights."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.stats import norm
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis as TheirLDA

from surefit import FisherDiscriminant, separability
from surefit.core.errors import DataWarning, InvalidData
from surefit.data import make_two_triangles


def two_classes(n=80, d=4, seed=0, share=0.3):
    rng = np.random.default_rng(seed)
    y = (np.arange(n) < share * n).astype(int)
    return rng.standard_normal((n, d)) @ rng.standard_normal((d, d)) + np.outer(y, np.arange(d)), y


def test_two_triangles_err_on_a_third_although_a_line_separates_them():
    X, y, truth = make_two_triangles(epsilon=0.2)
    model = FisherDiscriminant().fit(X, y)
    # on the six corners the pooled covariance, divisor n - 2 = 4, is the identity, and the means are -+(2/3 + epsilon, 0)
    assert model.covariance_ == pytest.approx(np.eye(2), abs=1e-14)
    assert model.means_ == pytest.approx(np.array([[2 / 3 + 0.2, 0.0], [-2 / 3 - 0.2, 0.0]]), abs=1e-15)
    assert model.coef_ == pytest.approx(np.array([[-2 * (2 / 3 + 0.2), 0.0]]), abs=1e-14)
    assert np.sum(model.predict(X) != y) == 2  # 1/3
    # the best cut on the projection still errs on 1/6
    projected = model.project(X)
    cuts = [np.mean((projected > cut) != (y == 1)) for cut in np.append(projected, -np.inf)]
    assert min(cuts) == pytest.approx(1 / 6)
    assert separability(X, y).status == "strict"
    assert np.all(y * (X @ truth["coef"] + truth["intercept"]) > 0)
    model.verify(X, y)


@pytest.mark.parametrize(("epsilon", "errors"), [(0.01, 2), (0.3, 2), (0.4, 0), (1.0, 0)])
def test_beyond_a_third_the_triangles_are_told_apart(epsilon, errors):
    X, y, _ = make_two_triangles(epsilon=epsilon)
    assert np.sum(FisherDiscriminant().fit(X, y).predict(X) != y) == errors


def test_criterion_in_rational_arithmetic():
    # class 0: (0,0),(2,0),(1,3); class 1: (4,1),(6,3),(5,5). S = S0 + S1, covariance S/4, J = 4 d' S^-1 d
    rows = [[0, 0], [2, 0], [1, 3], [4, 1], [6, 3], [5, 5]]
    F = [[Fraction(v) for v in row] for row in rows]
    means = [[sum(r[j] for r in part) / 3 for j in range(2)] for part in (F[:3], F[3:])]
    S = [
        [
            sum((r[i] - m[i]) * (r[j] - m[j]) for part, m in zip((F[:3], F[3:]), means, strict=True) for r in part)
            for j in range(2)
        ]
        for i in range(2)
    ]
    delta = [b - a for a, b in zip(*means, strict=True)]
    determinant = S[0][0] * S[1][1] - S[0][1] ** 2
    w = [
        4 * (S[1][1] * delta[0] - S[0][1] * delta[1]) / determinant,
        4 * (S[0][0] * delta[1] - S[0][1] * delta[0]) / determinant,
    ]
    J = w[0] * delta[0] + w[1] * delta[1]
    model = FisherDiscriminant().fit(np.array(rows, dtype=float), [0, 0, 0, 1, 1, 1])
    assert model.coef_[0] == pytest.approx([float(v) for v in w], rel=1e-14)
    assert model.distance_**2 == pytest.approx(float(J), rel=1e-14)
    assert model.plug_in_error_ == pytest.approx(norm.cdf(-model.distance_ / 2))
    assert model.certificate_["discriminant.gap"].numbers["criterion"] == pytest.approx(float(J), rel=1e-11)


def test_four_predictors_are_one():
    X, y = two_classes()
    Z = np.random.default_rng(1).standard_normal((500, 4)) * 3 + 1
    model = FisherDiscriminant().fit(X, y)
    inverse, (m0, m1) = np.linalg.inv(model.covariance_), model.means_
    square_distances = [np.einsum("ij,jk,ik->i", Z - m, inverse, Z - m) for m in (m0, m1)]
    nearest = square_distances[1] < square_distances[0]
    threshold = Z @ inverse @ (m1 - m0) > (m1 @ inverse @ m1 - m0 @ inverse @ m0) / 2
    white, a, b = model.whiten(Z), *model.whiten(model.means_)
    axis = (b - a) / np.linalg.norm(b - a)
    half_way = (white - a) @ axis > np.linalg.norm(b - a) / 2
    predicted = model.predict(Z).astype(bool)
    for other in (nearest, threshold, half_way, model.project(Z) > 0):
        assert np.array_equal(predicted, other)
    # in whitened columns the pooled covariance is the identity
    inside = model.whiten(X) - model.whiten(model.means_)[y]
    assert inside.T @ inside / (len(X) - 2) == pytest.approx(np.eye(4), abs=1e-10)


def test_pooled_covariance_is_the_mean_of_unbiased_ones():
    X, y = two_classes()
    n0, n1 = np.bincount(y)
    S0, S1 = (np.cov(X[y == k], rowvar=False) for k in (0, 1))
    expected = ((n0 - 1) * S0 + (n1 - 1) * S1) / (n0 + n1 - 2)
    assert FisherDiscriminant().fit(X, y).covariance_ == pytest.approx(expected, rel=1e-12)


def test_direction_and_rule_of_scikit_learn_with_equal_priors():
    X, y = two_classes()
    model = FisherDiscriminant().fit(X, y)
    other = TheirLDA(priors=[0.5, 0.5], solver="svd").fit(X, y)
    assert np.array_equal(model.predict(X), other.predict(X))
    # divisor n - 2 against n
    assert model.coef_ == pytest.approx(other.coef_ * (len(X) - 2) / len(X), rel=1e-9)


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_affine_maps_do_not_change_the_rule(seed):
    rng = np.random.default_rng(seed)
    X, y = two_classes(seed=seed)
    A, c = rng.standard_normal((4, 4)) + 3 * np.eye(4), rng.standard_normal(4)
    before, after = FisherDiscriminant().fit(X, y), FisherDiscriminant().fit(X @ A.T + c, y)
    scores = before.decision_function(X)
    assert after.decision_function(X @ A.T + c) == pytest.approx(scores, rel=1e-6, abs=1e-6)
    assert after.distance_ == pytest.approx(before.distance_, rel=1e-8)


@given(st.lists(st.integers(0, 3), min_size=30, max_size=30))
@settings(max_examples=10)
def test_weights_are_repetitions(weights):
    X, y = two_classes(30, 3)
    weights = np.array([max(w, 1) if i % 3 == 0 else w for i, w in enumerate(weights)])
    weighted = FisherDiscriminant(ridge=0.1).fit(X, y, sample_weight=weights)
    repeated = FisherDiscriminant(ridge=0.1).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    assert weighted.coef_ == pytest.approx(repeated.coef_, rel=1e-8, abs=1e-10)
    assert weighted.covariance_ == pytest.approx(repeated.covariance_, rel=1e-10, abs=1e-12)
    weighted.verify(X, y, sample_weight=weights)


def test_no_direction_has_a_larger_ratio():
    X, y = two_classes()
    model = FisherDiscriminant().fit(X, y)
    delta = model.means_[1] - model.means_[0]

    def ratio(w):
        return (w @ delta) ** 2 / (w @ model.covariance_ @ w)

    assert ratio(model.coef_[0]) == pytest.approx(model.distance_**2)
    rng = np.random.default_rng(2)
    others = [
        ratio(model.coef_[0] + size * rng.standard_normal(4)) for size in (1e-3, 0.1, 1.0, 10.0) for _ in range(50)
    ]
    assert max(others) <= ratio(model.coef_[0]) * (1 + 1e-12)


def test_singular_covariance_is_remarked_and_ridge_repairs_it():
    X, y = two_classes(6, 10, share=0.5)
    with pytest.warns(DataWarning, match="criterion has no maximum"):
        model = FisherDiscriminant().fit(X, y)
    assert model.certificate_.grade == "C" and model.verify(X, y)
    with pytest.raises(InvalidData, match="set ridge > 0 to whiten"):
        FisherDiscriminant.whiten(model, X)
    ridged = FisherDiscriminant(ridge=0.5).fit(X, y)
    assert ridged.certificate_.grade == "A" and ridged.verify(X, y)["discriminant.gap"].level == "enclosed"


def test_sparse_rows_and_logistic_form():
    X, y = two_classes()
    X[np.abs(X) < 0.3] = 0.0
    dense, thin = FisherDiscriminant().fit(X, y), FisherDiscriminant().fit(sparse.csr_array(X), y)
    assert thin.coef_ == pytest.approx(dense.coef_, rel=1e-10)
    assert thin.whiten(sparse.csr_array(X)) == pytest.approx(dense.whiten(X), rel=1e-8, abs=1e-9)
    assert dense.to_logistic().probabilities(X) == pytest.approx(dense.predict_proba(X), abs=1e-15)
    thin.verify(sparse.csr_array(X), y)


def test_refusals():
    X, _ = two_classes()
    with pytest.raises(InvalidData, match="3 classes. Use LinearDiscriminantAnalysis"):
        FisherDiscriminant().fit(X, np.arange(80) % 3)
    with pytest.raises(InvalidData, match="sum to more than 2"):
        FisherDiscriminant().fit(X[:2], [0, 1])
