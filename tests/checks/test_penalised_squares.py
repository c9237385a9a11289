"""The checker of lasso and elastic net, fed with coefficients from anywhere: it never believes, it re-derives."""

from fractions import Fraction

import cvxpy as cp
import numpy as np
import pytest
from scipy import sparse
from sklearn.linear_model import ElasticNet as TheirElasticNet

from surefit.checks import verify
from surefit.checks.base import read
from surefit.checks.penalised_squares import prove
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, Invalidated
from surefit.core.estimator import data_fingerprint


def certificate(X, y, w, b, *, gap=np.inf, alpha=0.1, beta=0.0, weights=None, factors=None, inactive=None, **problem):
    data = read(X, y, weights)
    n_features = X.shape[1]
    model = {
        "coef_": np.asarray(w, dtype=float),
        "intercept_": np.asarray(float(b)),
        "inactive_": np.zeros(n_features, bool) if inactive is None else inactive,
    }
    if factors is not None:
        model["penalty_factors_"] = factors
    return Certificate(
        grade="A",
        estimator="Lasso",
        params={},
        problem={
            "alpha": alpha, "beta": beta, "l1_ratio": alpha / (alpha + beta) if alpha + beta else 1.0,
            "fit_intercept": True, "positive": False, "radius": None, "multiplier": None, **problem,
        },
        model=model,
        data=data_fingerprint(data.X, data.y, data.weights),
        claims=(Claim("penalised_squares.gap", "optimality", "", value=gap),),
    )  # fmt: skip


def proved_gap(X, y, w, b, **options):
    return prove(certificate(X, y, w, b, **options), read(X, y, options.get("weights")))


def objective(X, y, w, b, alpha=0.1, beta=0.0, weights=None):
    s = np.ones(len(y)) if weights is None else weights
    r = y - X @ w - b
    return np.sum(s * r**2) / (2 * s.sum()) + alpha * np.abs(w).sum() + beta / 2 * np.sum(w**2)


def oracle(X, y, alpha=0.1, beta=0.0, weights=None, positive=False, intercept=True):
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    s = np.ones(len(y)) if weights is None else weights
    r = y - X @ w - (b if intercept else 0.0)
    loss = cp.sum_squares(cp.multiply(np.sqrt(s), r)) / (2 * s.sum())
    problem = cp.Problem(
        cp.Minimize(loss + alpha * cp.norm1(w) + beta / 2 * cp.sum_squares(w)), [w >= 0] if positive else []
    )
    return problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)


@pytest.fixture
def data():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((60, 12)) + 2.0
    return X, X[:, 0] - 2 * X[:, 1] + rng.standard_normal(60)


def test_worked_example_in_exact_arithmetic():
    # x = (-1, 0, 1), y = (-2, 0, 2), alpha = 1/3: w = 3/2 is optimal and P = D = 7/12 (in the sum form 7/2)
    X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    proof = proved_gap(X, y, [1.5], 0.0, alpha=1 / 3)
    assert 0 <= proof.gap <= 1e-14 and proof.level == "enclosed"
    # at w = 1: r = (-1, 0, 1), P = 1/3 + 1/3; best multiple of r under |x'theta| <= 1 is theta = r/2
    w, r = Fraction(1), [Fraction(-1), Fraction(0), Fraction(1)]
    primal = sum(v * v for v in r) / 6 + Fraction(1, 3) * w
    theta = [v / 2 for v in r]
    dual = (sum(t * Fraction(int(v)) for t, v in zip(theta, y, strict=True)) - sum(t * t for t in theta) / 2) / 3
    assert proved_gap(X, y, [1.0], 0.0, alpha=1 / 3).gap == pytest.approx(float(primal - dual), rel=1e-12)


@pytest.mark.parametrize("container", [np.asarray, np.asfortranarray, sparse.csc_array, sparse.csr_matrix])
@pytest.mark.parametrize("beta", [0.0, 0.2])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_proved_gap_bounds_the_true_distance_and_is_tight(data, container, beta, weighted):
    X, y = data
    weights = np.r_[np.zeros(5), np.linspace(0.1, 3, 55)] if weighted else None
    best = oracle(X, y, 0.1, beta, weights)
    for tol in (1e-1, 1e-3, 1e-12):
        theirs = TheirElasticNet(alpha=0.1 + beta, l1_ratio=0.1 / (0.1 + beta), tol=tol, max_iter=100_000)
        theirs.fit(X, y, sample_weight=weights)
        proof = proved_gap(container(X), y, theirs.coef_, theirs.intercept_, beta=beta, weights=weights)
        distance = objective(X, y, theirs.coef_, theirs.intercept_, 0.1, beta, weights) - best
        assert proof.gap >= distance - 1e-9
        if tol == 1e-12:
            assert proof.gap < 1e-9


def test_the_enclosure_contains_the_exact_gap(data):
    X, y = data
    X, y = np.round(X[:20, :4], 3), np.round(y[:20], 3)
    w, alpha = np.array([0.5, -1.25, 0.0, 0.125]), 0.25
    proof = proved_gap(X, y, w, 0.0, alpha=alpha, fit_intercept=False)
    exactly = np.vectorize(Fraction, otypes=[object])
    r = exactly(y) - exactly(X) @ exactly(w)
    correlations = exactly(X).T @ r
    primal = sum(r * r) / 40 + Fraction(alpha) * sum(abs(exactly(w)))
    scale = min(sum(r * exactly(y)) / sum(r * r), 20 * Fraction(alpha) / max(abs(correlations)))
    dual = (scale * sum(r * exactly(y)) - scale**2 * sum(r * r) / 2) / 20
    exact = float(primal - dual)
    assert exact <= proof.gap
    assert abs(exact - proof.gap_mid) <= proof.gap - proof.gap_mid < 1e-12 * float(primal)


def test_far_from_the_origin_rounding_stays_small(data):
    X, y = data
    far = X + 1e6
    theirs = TheirElasticNet(alpha=0.1, l1_ratio=1.0, tol=1e-14, max_iter=100_000).fit(X, y)
    intercept = theirs.intercept_ - 1e6 * theirs.coef_.sum()
    assert proved_gap(far, y, theirs.coef_, intercept).gap < 1e-6


def test_positive_coefficients_have_one_sided_duals(data):
    X, y = data
    theirs = TheirElasticNet(alpha=0.1, l1_ratio=1.0, tol=1e-12, max_iter=100_000, positive=True).fit(X, y)
    proof = proved_gap(X, y, theirs.coef_, theirs.intercept_, positive=True)
    assert proof.gap < 1e-9
    assert proved_gap(X, y, theirs.coef_, theirs.intercept_).gap > 1e-3  # without the constraint it is far from optimal


def test_unpenalised_features_are_projected_out_and_the_level_says_so(data):
    X, y = data
    factors = np.ones(12)
    factors[[0, 1]] = 0.0
    coef, *_ = np.linalg.lstsq(np.c_[X[:, :2], np.ones(60)], y, rcond=None)
    w = np.r_[coef[:2], np.zeros(10)]
    proof = proved_gap(X, y, w, coef[2], alpha=5.0, factors=factors)
    assert proof.level == "recomputed" and proof.gap < 1e-12


def test_a_lie_is_found_and_measured(data):
    X, y = data
    honest = proved_gap(X, y, np.zeros(12), y.mean()).gap
    with pytest.raises(CertificateError, match=r"claim 'penalised_squares.gap' does not hold: claimed") as caught:
        verify(certificate(X, y, np.zeros(12), y.mean(), gap=honest / 2), X, y)
    assert caught.value.claim == "penalised_squares.gap"
    assert caught.value.excess == pytest.approx(honest / 2, rel=1e-6)
    assert verify(certificate(X, y, np.zeros(12), y.mean(), gap=honest), X, y)["penalised_squares.gap"].ok


def test_other_data_are_refused_by_name(data):
    X, y = data
    issued = certificate(X, y, np.zeros(12), 0.0)
    with pytest.raises(Invalidated, match="X differ from what the model was fitted on"):
        verify(issued, X[::-1], y)
    with pytest.raises(Invalidated, match="y differ"):
        verify(issued, X, y + 1e-9)
    with pytest.raises(Invalidated, match="the sample weights differ"):
        verify(issued, X, y, sample_weight=np.ones(60))
    assert verify(issued, np.asfortranarray(X), list(y))


def test_inactive_features_must_be_proved_one_by_one(data):
    X, y = data
    theirs = TheirElasticNet(alpha=0.3, l1_ratio=1.0, tol=1e-14, max_iter=100_000).fit(X, y)
    zero = theirs.coef_ == 0
    assert zero.sum() >= 5

    def issue(marked):
        issued = certificate(X, y, theirs.coef_, theirs.intercept_, alpha=0.3, inactive=marked)
        claim = Claim("penalised_squares.inactive", "optimality", "", value=float((~marked).sum()))
        return Certificate(**{**issued.__dict__, "claims": (claim,), "seal": ""})

    assert verify(issue(zero), X, y)["penalised_squares.inactive"].ok
    wrong = np.ones(12, bool)
    with pytest.raises(CertificateError, match=r"was not proved zero|features are zero"):
        verify(issue(wrong), X, y)


def test_unknown_claims_cannot_be_verified(data):
    X, y = data
    issued = certificate(X, y, np.zeros(12), 0.0)
    odd = Certificate(**{**issued.__dict__, "claims": (Claim("no.such", "optimality", ""),), "seal": ""})
    with pytest.raises(CertificateError, match=r"No checker knows the claim 'no\.such'"):
        verify(odd, X, y)
