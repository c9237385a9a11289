"""Kernel machines with functions that are not penalized, for every convex loss: an independent solver, identities, forgeries."""

import numpy as np
import pytest
from sklearn.preprocessing import PolynomialFeatures
from tests.checks.gap.terms import objective, optimum, penalty_of, targets
from tests.linear.test_linear_model import LOSSES

from surefit import (
    Certificate,
    CertificateError,
    InvalidData,
    InvalidParameter,
    KernelModel,
    KernelRidge,
    kernels,
    load,
    save,
)
from surefit.core.claims import Claim

ALPHA = 0.05


def sample(seed=0, n=30):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, np.sin(3 * X[:, 0]) + X[:, 1] + 0.3 * rng.standard_normal(n)


def quadratic(X):
    """All monomials of two columns of degree one and two."""
    a, b = X.T
    return np.column_stack([a, b, a * a, a * b, b * b])


@pytest.mark.parametrize("name", LOSSES)
def test_every_loss_reaches_the_optimum_of_an_independent_solver(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    X = rng.normal(size=(30, 2))
    y, s = targets(name, np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] - 0.4 * X[:, 1] ** 2, rng), rng.random(30) + 0.2
    s[:2] = 0.0
    kernel = kernels.RBF(gamma=0.8)
    K = kernel(X)
    values, vectors = np.linalg.eigh(K)
    A = vectors[:, values > 1e-10] * np.sqrt(values[values > 1e-10])
    for null_space, T in (("linear", X), (lambda rows: rows[:, 1] ** 2, X[:, 1:] ** 2)):
        d = T.shape[1]
        penalty = penalty_of(d + A.shape[1], l2=ALPHA, factors=np.repeat([0.0, 1.0], [d, A.shape[1]]))
        best = optimum(name, penalty, np.hstack([T, A]), y, s / s.sum(), True)[0]
        model = KernelModel(LOSSES[name], kernel, alpha=ALPHA, null_space=null_space).fit(X, y, sample_weight=s)
        gap, beta = model.certificate_["kernel_model.gap"], np.ravel(model.dual_coef_)
        free = T - getattr(model, "null_center_", 0.0)
        coef, b = np.append(np.ravel(model.null_coef_), beta), float(np.ravel(model.intercept_)[0])
        loss = objective(name, penalty_of(d + 30), np.hstack([free, K]), y, s / s.sum(), coef, b)
        assert loss + 0.5 * ALPHA * beta @ K @ beta - best <= gap.value + 1e-9
        assert gap.holds and model.verify(X, y, sample_weight=s)["kernel_model.gap"].level == "enclosed"


def test_squared_loss_is_kernel_ridge():
    X, y = sample(1)
    for null_space in ("constant", "linear", 2, quadratic):
        ridge = KernelRidge(30 * ALPHA, kernel=kernels.RBF(gamma=0.5), null_space=null_space, fit_intercept=True).fit(
            X, y
        )
        model = KernelModel(kernel=kernels.RBF(gamma=0.5), alpha=ALPHA, null_space=null_space, tol=1e-12).fit(X, y)
        assert model.predict(X + 0.1) == pytest.approx(ridge.predict(X + 0.1), abs=1e-7)
        assert model.dual_coef_ == pytest.approx(ridge.dual_coef_, abs=1e-7)
        assert model.null_coef_ == pytest.approx(ridge.null_coef_, abs=1e-6)
        assert model.intercept_ == pytest.approx(ridge.intercept_, abs=1e-6)


@pytest.mark.parametrize("loss", ["squared_error", "absolute_error", "huber"])
def test_free_functions_pass_through(loss):
    X, y = sample(2)
    options = {"kernel": kernels.RBF(gamma=0.5), "alpha": ALPHA, "null_space": 2, "tol": 1e-9}
    plain = KernelModel(loss, **options).fit(X, y)
    p = 3.0 + quadratic(X) @ [-1.0, 2.0, 5.0, 0.5, -4.0]
    moved = KernelModel(loss, **options).fit(X, y + p)
    assert moved.predict(X) == pytest.approx(plain.predict(X) + p, abs=1e-4)
    assert quadratic(X).T @ plain.dual_coef_ == pytest.approx(np.zeros(5), abs=1e-9)


def test_hinge_conditions():
    """The dual variables of the hinge are in their box and orthogonal to every free function."""
    X, f = sample(3, 40)
    y = np.where(f > 0, 1, -1)
    model = KernelModel("hinge", kernels.RBF(gamma=0.5), alpha=ALPHA, null_space="linear", tol=1e-9).fit(X, y)
    a = 40 * ALPHA * y * model.dual_coef_[0]
    margins = y * model.decision_function(X)
    assert np.all((a > -1e-7) & (a < 1 + 1e-7))
    assert np.column_stack([np.ones(40), X]).T @ model.dual_coef_[0] == pytest.approx(np.zeros(3), abs=1e-9)
    assert np.all(a[margins > 1 + 1e-3] < 1e-3) and np.all(a[margins < 1 - 1e-3] > 1 - 1e-3)
    # a separating line costs nothing: the penalized part vanishes
    line = np.where(X @ [1.0, -2.0] > 0, 1, -1)
    apart = KernelModel("hinge", kernels.RBF(gamma=0.5), alpha=ALPHA, null_space="linear").fit(X, line)
    assert apart.score(X, line) == 1.0 and apart.certificate_["kernel_model.gap"].holds
    assert apart.dual_coef_ @ kernels.RBF(gamma=0.5)(X) @ apart.dual_coef_.T < 1e-3


def test_three_classes_transformers_and_files(tmp_path):
    X, f = sample(4, 45)
    y = np.digitize(f, [-0.5, 0.8])
    degree = KernelModel("squared_hinge", alpha=ALPHA, null_space=2).fit(X, y)
    own = KernelModel("squared_hinge", alpha=ALPHA, null_space=PolynomialFeatures(2, include_bias=False)).fit(X, y)
    assert degree.null_coef_.shape == own.null_coef_.shape == (3, 5)
    assert own.decision_function(X) == pytest.approx(degree.decision_function(X), abs=1e-3)
    for i, model in enumerate((degree, own)):
        model.verify(X, y)
        save(model, tmp_path / f"{i}.skops")
        again = load(tmp_path / f"{i}.skops")
        assert np.array_equal(again.decision_function(X), model.decision_function(X)) and again.verify(X, y)
    assert Certificate.from_json(degree.certificate_.to_json()).verify(X, y)
    with pytest.raises(CertificateError, match="verify the model"):
        Certificate.from_json(own.certificate_.to_json()).verify(X, y)


@pytest.mark.parametrize("changed", ["null_coef_", "intercept_", "dual_coef_", "null_center_", "X_fit_"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_changed_model_is_refused_even_with_a_new_certificate(loss, changed):
    X, f = sample(5)
    y = np.where(f > 0, 1, -1)
    model = KernelModel(loss, alpha=ALPHA, null_space="linear").fit(X, y)
    old = model.certificate_
    setattr(model, changed, getattr(model, changed) + 0.1)
    model._issue("A", list(old.claims), problem=old.problem, model=tuple(old.model), data=old.data)
    with pytest.raises(CertificateError):
        model.verify(X, y)


def test_coefficients_of_functions_that_do_not_exist_are_refused():
    X, y = sample(9)
    model = KernelModel("huber", alpha=ALPHA).fit(X, y)
    assert model.null_coef_.shape == (0,)
    old, model.null_coef_ = model.certificate_, np.array([1.0])
    model._issue("A", list(old.claims), problem=old.problem, model=tuple(old.model), data=old.data)
    with pytest.raises(CertificateError, match="null_coef_ must be empty"):
        model.verify(X, y)


def test_the_bound_covers_what_was_spoilt():
    X, f = sample(6)
    y = np.where(f > 0, 1, -1)
    K, rng = kernels.RBF(gamma=0.5)(X), np.random.default_rng(6)

    def value(model):
        hinge = np.mean(np.maximum(0, 1 - y * model.decision_function(X)))
        return hinge + 0.5 * ALPHA * float(model.dual_coef_[0] @ K @ model.dual_coef_[0])

    model = KernelModel("hinge", kernels.RBF(gamma=0.5), alpha=ALPHA, null_space="linear", tol=1e-9).fit(X, y)
    best, old = value(model), model.certificate_
    for size in (1e-6, 1e-3, 1.0):
        model.dual_coef_ = model.dual_coef_ + size * rng.standard_normal(30)
        model.null_coef_ = model.null_coef_ + size * rng.standard_normal(2)
        model._issue(
            "A", [Claim("kernel_model.gap", witness=old.claims[0].witness)],
            problem=old.problem, model=tuple(old.model), sample=(X, y.astype(float), None),
        )  # fmt: skip
        proved = model.verify(X, y)["kernel_model.gap"].proved
        assert value(model) - best <= proved + 1e-12


def test_far_from_the_origin():
    X, y = sample(7)
    options = {"kernel": kernels.RBF(gamma=0.5), "alpha": ALPHA, "null_space": 2}
    near, far = (KernelModel("huber", **options).fit(X + at, y) for at in (0.0, 1e6))
    assert far.predict(X + 1e6) == pytest.approx(near.predict(X), abs=1e-5)
    assert far.verify(X + 1e6, y)["kernel_model.gap"].level == "enclosed"


def test_what_it_refuses():
    X, y = sample(8)
    with pytest.raises(InvalidParameter, match="null_space"):
        KernelModel(null_space="quadratic").fit(X, y)
    with pytest.raises(InvalidData, match="linearly dependent"):
        KernelModel(null_space="linear").fit(np.column_stack([X, np.ones(30)]), y)
    with pytest.raises(InvalidParameter, match="no columns"):
        KernelModel(kernel="precomputed", null_space="linear").fit(np.eye(30), y)
    with pytest.raises(InvalidData, match="linearly dependent"):
        KernelModel(null_space=2).fit(X * 1e-170, y)  # the squares underflow
