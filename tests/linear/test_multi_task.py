"""Lasso and elastic net of several targets: by hand, an independent solver, scikit-learn, hard data, forgeries."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from sklearn import linear_model as peers
from sklearn.exceptions import ConvergenceWarning
from tests.forging import fitted, forgeries, refused, verified_strictly
from tests.hard_data import hard_data

from surefit import Lasso, MultiTaskElasticNet, MultiTaskLasso
from surefit.core.budget import Budget
from surefit.core.errors import InvalidData
from surefit.solvers.multi_task import _Products, _Residuals, minimize

RNG = np.random.default_rng(8)
X = RNG.normal(size=(60, 12)) + 3
TRUTH = np.vstack([RNG.normal(size=(3, 4)), np.zeros((9, 4))])
Y = X @ TRUTH + RNG.normal(size=(60, 4))


def objective(model, X, Y):
    l1, l2 = model.certificate_.problem["l1"], model.certificate_.problem["l2"]
    loss = np.sum((Y - model.predict(X)) ** 2) / (2 * len(Y))
    return loss + l1 * np.linalg.norm(model.coef_, axis=0).sum() + l2 / 2 * np.sum(model.coef_**2)


def test_orthogonal_columns_have_a_closed_form():
    """With orthonormal columns (times sqrt n) each group is its least-squares value times (1 - alpha / norm), or zero."""
    Q, _ = np.linalg.qr(RNG.normal(size=(40, 5)))
    A = Q * np.sqrt(40)
    B = RNG.normal(size=(40, 3))
    free = A.T @ B / 40
    model = MultiTaskLasso(alpha=0.25, fit_intercept=False, tol=1e-14).fit(A, B)
    factors = np.maximum(0.0, 1 - 0.25 / np.linalg.norm(free, axis=1))
    assert np.any(factors == 0) and np.any(factors > 0)
    np.testing.assert_allclose(model.coef_.T, free * factors[:, None], atol=1e-12)


@pytest.mark.parametrize("ratio", [1.0, 0.4])
def test_the_gap_contains_the_distance_from_an_independent_optimum(ratio):
    W, b = cp.Variable((12, 4)), cp.Variable((1, 4))
    penalty = 0.3 * ratio * cp.sum(cp.norm(W, 2, axis=1)) + 0.15 * (1 - ratio) * cp.sum_squares(W)
    best = cp.Problem(cp.Minimize(cp.sum_squares(Y - X @ W - np.ones((60, 1)) @ b) / 120 + penalty)).solve("CLARABEL")
    for max_iter in (1, 2, 1000):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            model = MultiTaskElasticNet(alpha=0.3, l1_ratio=ratio, max_iter=max_iter, tol=1e-12).fit(X, Y)
        assert objective(model, X, Y) - best <= model.dual_gap_ + 1e-7 * best
        model.verify(X, Y)
    assert objective(model, X, Y) == pytest.approx(best, rel=1e-7)


@pytest.mark.parametrize("alpha", [0.01, 0.3, 5.0])
def test_as_scikit_learn(alpha):
    for cls, name in ((MultiTaskLasso, "MultiTaskLasso"), (MultiTaskElasticNet, "MultiTaskElasticNet")):
        model = cls(alpha=alpha, tol=1e-12).fit(X, Y)
        peer = getattr(peers, name)(alpha=alpha, tol=1e-12, max_iter=100_000).fit(X, Y)
        np.testing.assert_allclose(model.coef_, peer.coef_, atol=1e-5)
        np.testing.assert_allclose(model.intercept_, peer.intercept_, atol=1e-4)
        assert (model.sparse_coef_.toarray() == model.coef_).all()


def test_one_target_is_the_lasso():
    model = MultiTaskLasso(alpha=0.2, tol=1e-12).fit(X, Y[:, :1])
    np.testing.assert_allclose(model.coef_[0], Lasso(alpha=0.2, tol=1e-12).fit(X, Y[:, 0]).coef_, atol=1e-6)
    with pytest.raises(InvalidData, match="use Lasso"):
        MultiTaskLasso().fit(X, Y[:, 0])


def test_a_warm_start_continues_and_a_late_stop_warns():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = MultiTaskLasso(alpha=0.01, tol=1e-12, max_iter=1, warm_start=True).fit(X, Y)
    first = model.dual_gap_
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        assert model.fit(X, Y).dual_gap_ < first


@pytest.mark.parametrize(
    "data", [data for data in hard_data() if "sparse" not in data.name], ids=lambda data: data.name
)
def test_honest_models_pass_on_hard_data(data):
    targets = np.column_stack([data.y, np.roll(data.y, 1)]).astype(float)
    for model in (MultiTaskLasso(alpha=0.05), MultiTaskElasticNet(alpha=0.05)):
        verified_strictly(fitted(model, data.X, targets), data.X, targets)


def test_forgeries_are_refused():
    model = MultiTaskElasticNet(alpha=0.3).fit(X, Y)
    proved = [finding.proved for finding in model.verify(X, Y).findings]
    for what, forged in forgeries(model.certificate_, proved):
        assert refused(forged, X, Y), what


def test_products_of_columns_and_residuals_lead_to_the_same_minimum():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 6))
    Y = X @ rng.normal(size=(6, 3)) + rng.normal(size=(300, 3))
    X, Y = X - X.mean(axis=0), Y - Y.mean(axis=0)
    start = np.zeros((6, 3))
    found = {
        tol: minimize(X, Y, 0.1, 0.05, tol=tol, budget=Budget(1000), start=start) for tol in (1e-9, 1e-14)
    }  # of a smaller tolerance than 1e-10, every sweep reads the rows
    assert all(fit.reason == "converged" for fit in found.values())
    np.testing.assert_allclose(found[1e-9].W, found[1e-14].W, atol=1e-4)
    steps = _Products(X, Y, found[1e-9].W), _Residuals(X, Y, found[1e-9].W)
    for own, other in zip(*(step.numbers(found[1e-9].W) for step in steps), strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-10, atol=1e-10)
    start[1] = 1.0
    sweeps = [step(X, Y, start) for step in (_Products, _Residuals)]
    W = [start.copy(), start.copy()]
    moves = [step.sweep(w, np.arange(6), 0.1, 0.05) for step, w in zip(sweeps, W, strict=True)]
    assert moves[0] == pytest.approx(moves[1], rel=1e-10)
    np.testing.assert_allclose(W[0], W[1], rtol=1e-10)
    np.testing.assert_allclose(sweeps[0].numbers(W[0])[0], sweeps[1].numbers(W[1])[0], atol=1e-9)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_targets_far_from_zero_are_verified_in_another_order_of_memory():
    """Residuals of targets around a million, with columns as large: their rounding must not reach the gap."""
    for seed in range(30):
        rng = np.random.default_rng(seed)
        A = rng.normal(size=(200, 15)) * 10.0 ** rng.integers(-6, 7, size=15) + 1e6 * (rng.random(15) < 0.3)
        A[:, 0] = 2.5
        B = ((A - A.mean(axis=0)) / (A.std(axis=0) + 1e-300)) @ rng.normal(size=(15, 3)) + 1e6
        B += rng.normal(size=B.shape) * rng.choice([0, 1e-8, 1])
        for alpha in (1e-4, 1e-2, 1.0):
            certificate = MultiTaskLasso(alpha=alpha, tol=1e-6, max_iter=100).fit(A, B).certificate_
            certificate.verify(np.asfortranarray(A), B)
            certificate.verify(A, np.asfortranarray(B))
