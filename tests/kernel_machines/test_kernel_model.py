"""Every convex loss in a kernel's space: the fit reaches the optimum of an independent solver, with an enclosed gap."""

import numpy as np
import pytest
from tests.checks.gap.terms import objective, optimum, penalty_of, targets
from tests.linear.test_linear_model import LOSSES

from surefit import Certificate, KernelModel, kernels
from surefit.core.errors import CertificateError, InvalidParameter

ALPHA = 0.05


@pytest.mark.parametrize("name", LOSSES)
def test_fit_reaches_the_optimum_in_the_kernel_space(name):
    rng = np.random.default_rng(sum(map(ord, name)))
    X = rng.normal(size=(30, 3))
    y, s = targets(name, np.sin(X[:, 0]) + 0.5 * X[:, 1], rng), rng.random(30) + 0.2
    for kernel, intercept in ((kernels.RBF(gamma=0.3), True), (kernels.Linear(), False)):
        K = kernel(X)
        values, vectors = np.linalg.eigh(K)
        A = vectors[:, values > 1e-10] * np.sqrt(values[values > 1e-10])
        best = optimum(name, penalty_of(A.shape[1], l2=ALPHA), A, y, s / s.sum(), intercept)[0]
        model = KernelModel(LOSSES[name], kernel, alpha=ALPHA, fit_intercept=intercept).fit(X, y, sample_weight=s)
        gap = model.certificate_["kernel_model.gap"]
        beta, b = np.ravel(model.dual_coef_), float(np.ravel(model.intercept_)[0])
        loss = objective(name, penalty_of(30), K, y, s / s.sum(), beta, b)
        assert loss + 0.5 * ALPHA * beta @ K @ beta - best <= gap.value + 1e-9
        assert gap.holds and model.verify(X, y, sample_weight=s)["kernel_model.gap"].level == "enclosed"


def test_precomputed_kernels_and_json():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(25, 2))
    y = X[:, 0] ** 2
    K = kernels.RBF(gamma=0.5)(X)
    given = KernelModel("huber", "precomputed", alpha=0.1).fit(K, y)
    direct = KernelModel("huber", kernels.RBF(gamma=0.5), alpha=0.1).fit(X, y)
    assert given.predict(K) == pytest.approx(direct.predict(X))
    assert Certificate.from_json(direct.certificate_.to_json()).verify(X, y)["kernel_model.gap"].ok
    direct.dual_coef_ = -direct.dual_coef_
    with pytest.raises(CertificateError):
        direct.verify(X, y)


def test_labels_of_three_classes():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(45, 2))
    y = np.digitize(np.hypot(*X.T), [0.8, 1.5])
    model = KernelModel("squared_hinge", alpha=0.01).fit(X, y)
    assert model.score(X, y) > 0.9 and model.decision_function(X).shape == (45, 3)
    model.verify(X, y)


@pytest.mark.filterwarnings("ignore:Sigmoid:surefit.core.errors.DataWarning")
def test_an_indefinite_kernel_is_refused_in_a_sentence():
    X = np.random.default_rng(0).normal(size=(20, 2))
    with pytest.raises(InvalidParameter, match="kernel must be positive semidefinite on these rows .*; got 'sigmoid'"):
        KernelModel(kernel="sigmoid").fit(X, X[:, 0])
    with pytest.raises(InvalidParameter, match="got 'precomputed'"):
        KernelModel(kernel="precomputed").fit(-np.eye(20) * 3, X[:, 0])
