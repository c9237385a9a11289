"""The softmax on landmarks: against the exact fit, an independent minimiser over the whole space, and tampering."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

from surefit import CertificateError, KernelLogisticRegression, NystroemLogisticRegression
from surefit.kernels import RBF


def problem(seed=0, n=90):
    rng = np.random.default_rng(seed)
    X = rng.uniform(-2, 2, (n, 2))
    value = np.sin(2 * X[:, 0]) + X[:, 1] + 0.4 * rng.standard_normal(n)
    y = np.digitize(value, [-0.7, 0.7])
    y[:3] = [0, 1, 2]
    return X, y


def least(K, y, c, offset):
    """Least objective over the whole space: ``root @ U`` on the rows, with squared norms of the columns of U."""
    values, vectors = np.linalg.eigh(K)
    columns = np.column_stack([vectors * np.sqrt(np.maximum(values, 0.0)), np.full(len(y), float(offset))])
    penalized = np.append(np.ones(len(y)), 0.0)[:, None]
    Y = np.eye(3)[y]

    def value_and_slope(u):
        U = u.reshape(-1, 3)
        Z = columns @ U
        value = 0.5 * np.sum(penalized * U**2) + c @ (logsumexp(Z, axis=1) - np.sum(Y * Z, axis=1))
        return value, (penalized * U + columns.T @ (c[:, None] * (softmax(Z, axis=1) - Y))).ravel()

    options = {"maxiter": 5000, "maxfun": 5000, "ftol": 1e-15, "gtol": 1e-9}
    start = np.zeros(3 * columns.shape[1])
    return minimize(value_and_slope, start, jac=True, method="L-BFGS-B", options=options).fun


@pytest.mark.parametrize("offset", [False, True])
def test_every_row_a_landmark_is_the_exact_fit(offset):
    X, y = problem()
    s = np.random.default_rng(0).uniform(0.5, 2, len(y))
    model = NystroemLogisticRegression(2.0, gamma=0.5, fit_intercept=offset, tol=1e-10).fit(X, y, s)
    exact = KernelLogisticRegression(2.0, gamma=0.5, fit_intercept=offset).fit(X, y, s)
    assert model.objective_ == pytest.approx(exact.objective_, rel=1e-8)
    assert model.dual_gap_ <= 1e-7 * exact.objective_
    assert model.predict_proba(X) == pytest.approx(exact.predict_proba(X), abs=1e-4)
    assert model.predict_proba(X) == pytest.approx(softmax(model.decision_function(X), axis=1), abs=1e-14)
    assert model.verify(X, y, s)["nystroem.exact_gap"].level == "enclosed"


@settings(max_examples=8, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 30), st.booleans(), st.sampled_from([0.02, 1.0, 20.0]), st.integers(1, 7))
def test_the_exact_optimum_lies_between_the_bounds(seed, m, offset, price, groups):
    X, y = problem(seed, n=40)
    s = np.random.default_rng(seed).choice([0.0, 0.5, 1.0, 3.0], 40)
    s[:3] = 1.0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("surefit.checks.kernels.landmarks.SMALL_GROUP", -(-40 // groups))
        model = NystroemLogisticRegression(
            price, gamma=0.7, n_landmarks=m, fit_intercept=offset, random_state=seed, dual="bounded"
        ).fit(X, y, s)
        proved = model.verify(X, y, s)["nystroem.exact_gap"].proved
    used = s > 0
    best = least(RBF(gamma=0.7)(X[used]), y[used], price * s[used], offset)
    noise = 1e-6 * best
    assert best - noise <= model.objective_ <= best + model.dual_gap_ + noise
    assert model.dual_gap_ <= model.objective_ * (1 + 1e-9)
    assert model.objective_ - best - noise <= proved <= model.dual_gap_ * (1 + 1e-3) + noise


def test_the_softmax_and_classes_against_the_rest_are_two_models():
    X, y = problem(1)
    joint, each = (
        NystroemLogisticRegression(gamma=0.5, n_landmarks=20, random_state=0, multi_class=how).fit(X, y)
        for how in ("multinomial", "ovr")
    )
    assert joint.certificate_.problem["loss"] == "softmax" and each.certificate_.problem["loss"] == "logistic"
    assert np.abs(joint.predict_proba(X) - each.predict_proba(X)).max() > 0.01
    assert joint.predict_proba(X).sum(axis=1) == pytest.approx(np.ones(len(y)))


@pytest.mark.parametrize("change", ["coefficients", "offsets", "dual", "rank"])
def test_a_worse_model_and_a_smaller_claim_are_refused(change):
    X, y = problem(2)
    model = NystroemLogisticRegression(gamma=0.5, n_landmarks=20, random_state=0).fit(X, y)
    old = model.certificate_
    witness = dict(old.claims[0].witness)
    if change == "coefficients":
        model.dual_coef_ = model.dual_coef_ * 0.9
    elif change == "offsets":
        model.intercept_ = model.intercept_ + np.array([0.2, 0.0, -0.2])
    elif change == "dual":
        witness["dual"] = witness["dual"][::-1]
    else:
        witness["rank"] = np.asarray(21)
    claims = [replace(old.claims[0], witness=witness), *old.claims[1:]]
    names = ("landmarks_", "dual_coef_", "intercept_")
    model._issue("A", claims, problem=old.problem, model=names, data=old.data)
    with pytest.raises(CertificateError, match="nystroem|21 directions"):
        model.verify(X, y)
