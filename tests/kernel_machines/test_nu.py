"""Support vector machines with nu: the problem with C or epsilon that has the same solution, shares of rows, and scikit-learn."""

import dataclasses

import numpy as np
import pytest
from scipy import sparse
from sklearn import svm

from surefit import SVC, SVR, CertificateError, NuSVC, NuSVR, OneClassSVM
from surefit.core.errors import SurefitError
from surefit.kernel_machines.nu import training


def sample(n=90, seed=0, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    y = X @ [1.0, 2.0, 0.0] + 0.5 * rng.normal(size=n)
    return X, y, np.digitize(y + rng.normal(size=n), np.quantile(y, np.arange(1, classes) / classes))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("nu", [0.48, 0.6])
def test_classifier_is_that_of_its_C(kernel, nu):
    X, _, labels = sample()
    model = NuSVC(nu=nu, kernel=kernel, tol=1e-9).fit(X, labels)
    same = SVC(C=float(model.C_[0]), kernel=kernel, tol=1e-11).fit(X, labels)
    assert model.objective_ == pytest.approx(same.objective_, rel=1e-6)
    assert float(np.abs(model.dual_coef_).sum()) == pytest.approx(nu * len(X) * model.C_[0], rel=1e-9)
    np.testing.assert_allclose(model.decision_function(X), same.decision_function(X), atol=2e-3)
    assert np.mean(model.slack_ > 1e-4) <= nu <= len(model.support_) / len(X)
    assert model.verify(X, labels)["nu_svc.gap"].proved <= 1e-6 * model.objective_


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("nu", [0.2, 0.75])
def test_regressor_is_that_of_its_epsilon(kernel, nu):
    X, y, _ = sample()
    model = NuSVR(nu=nu, C=3.0, kernel=kernel, tol=1e-9).fit(X, y)
    same = SVR(C=3.0, epsilon=model.epsilon_, kernel=kernel, tol=1e-11).fit(X, y)
    np.testing.assert_allclose(model.predict(X), same.predict(X), atol=2e-3)
    assert np.mean(np.abs(y - model.predict(X)) > model.epsilon_ + 1e-4) <= nu <= len(model.support_) / len(X)
    assert model.verify(X, y)["nu_svr.gap"].proved <= 1e-6 * model.objective_


@pytest.mark.parametrize("nu", [0.1, 0.5, 1.0])
def test_one_class_leaves_at_most_the_share_outside(nu):
    X, _, _ = sample()
    model = OneClassSVM(nu=nu, tol=1e-9).fit(X)
    assert np.mean(model.predict(X) == -1) <= nu <= len(model.support_) / len(X) + 1e-12
    assert float(model.dual_coef_.sum()) == pytest.approx(nu * len(X), rel=1e-9)
    np.testing.assert_allclose(model.score_samples(X) - model.offset_, model.decision_function(X))
    if nu < 1:  # scikit-learn returns no finite threshold for nu=1
        peer = svm.OneClassSVM(nu=nu, tol=1e-9).fit(X)
        np.testing.assert_allclose(model.decision_function(X), peer.decision_function(X), atol=1e-4)
    assert model.verify(X)["one_class.gap"].proved <= 1e-6 * model.objective_


def test_agrees_with_scikit_learn():
    X, y, labels = sample(classes=3)
    ours, theirs = NuSVC(nu=0.35, tol=1e-6).fit(X, labels), svm.NuSVC(nu=0.35, tol=1e-6).fit(X, labels)
    np.testing.assert_allclose(ours.decision_function(X), theirs.decision_function(X), atol=5e-3)
    assert np.mean(ours.predict(X) == theirs.predict(X)) > 0.98
    ours, theirs = NuSVR(nu=0.35, tol=1e-6).fit(X, y), svm.NuSVR(nu=0.35, tol=1e-6).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=5e-3)


@pytest.mark.parametrize("cls", [NuSVC, NuSVR, OneClassSVM])
def test_weights_are_repetitions_and_sparse_rows_are_rows(cls):
    X, y, labels = sample(40)
    target = {"NuSVC": labels, "NuSVR": y}.get(cls.__name__)
    weights = 1 + np.arange(40) % 3
    repeated = None if target is None else np.repeat(target, weights)
    score = "predict" if cls is NuSVR else "decision_function"
    one = cls(tol=1e-9, gamma=0.3).fit(X, target, weights)
    other = cls(tol=1e-9, gamma=0.3).fit(np.repeat(X, weights, axis=0), repeated)
    np.testing.assert_allclose(getattr(one, score)(X), getattr(other, score)(X), atol=1e-4)
    packed = cls(tol=1e-9, gamma=0.3).fit(sparse.csr_array(X), target, weights)
    np.testing.assert_allclose(getattr(packed, score)(X), getattr(one, score)(X), atol=1e-6)
    packed.verify(sparse.csr_array(X), target, weights)


def test_a_share_that_a_class_does_not_have_is_lowered():
    X, _, labels = sample()
    few = (np.arange(len(X)) < 9).astype(int)
    with pytest.warns(UserWarning, match="largest possible nu"):
        model = NuSVC(nu=0.5).fit(X, few)
    assert float(np.abs(model.dual_coef_).sum()) == pytest.approx(18 * model.C_[0], rel=1e-9)
    model.verify(X, few)
    with pytest.raises(ValueError, match="too small"):
        NuSVC(nu=0.05, kernel="linear").fit(np.ones((10, 1)), np.arange(10) % 2)
    with pytest.raises(ValueError, match="too small"):
        NuSVC(nu=0.05, kernel="linear").fit(X, labels)


@pytest.mark.parametrize("cls", [NuSVC, NuSVR, OneClassSVM])
def test_other_coefficients_are_refused(cls):
    X, y, labels = sample(40)
    target = {"NuSVC": labels, "NuSVR": y}.get(cls.__name__)
    certificate = cls(tol=1e-6).fit(X, target).certificate_
    for name, factor in (("dual_coef_", 1.01), ("intercept_", 1.05)):
        changed = {**certificate.model, name: certificate.model[name] * factor}
        with pytest.raises(CertificateError):
            dataclasses.replace(certificate, model=changed, seal="").verify(X, target)


def test_probabilities_follow_the_predictions():
    X, _, labels = sample(60)
    model = NuSVC(nu=0.4, probability=True).fit(X, labels)
    assert np.array_equal(model.classes_[model.predict_proba(X).argmax(axis=1)], model.predict(X))


def test_pairs_within_each_sign_solve_what_the_search_solves(monkeypatch):
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 3))
    y, weights = X[:, 0] + 0.3 * rng.normal(size=600), rng.uniform(0.0, 2.0, 600)
    fast = NuSVR(nu=0.4, tol=1e-6).fit(X, y, sample_weight=weights)
    monkeypatch.setattr("surefit.solvers.smo.nu_pairs.MOST_ROWS", 0)
    slow = NuSVR(nu=0.4, tol=1e-6).fit(X, y, sample_weight=weights)
    assert "pairs within each sign" in fast.certificate_.run["solver"]
    assert "working sets" in slow.certificate_.run["solver"]
    assert fast.objective_ == pytest.approx(slow.objective_, rel=2e-6)
    assert fast.dual_gap_ <= 1e-6 * fast.objective_ * (1 + 1e-6)
    fast.verify(X, y, sample_weight=weights)


def test_working_sets_of_a_classifier_solve_what_the_search_solves(monkeypatch):
    rng = np.random.default_rng(6)
    labels = rng.integers(2, size=1600)
    X = rng.standard_normal((1600, 6)) + 0.6 * labels[:, None]
    weights = rng.integers(1, 3, 1600).astype(float)
    fast = NuSVC(nu=0.5, tol=1e-5).fit(X, labels, weights)  # more rows than a working set has variables
    monkeypatch.setattr("surefit.solvers.smo.nu_pairs.MOST_ROWS", 0)
    slow = NuSVC(nu=0.5, tol=1e-5).fit(X, labels, weights)
    assert fast.certificate_.run["solver"] == "pairs within each sign" != slow.certificate_.run["solver"]
    assert fast.objective_ == pytest.approx(slow.objective_, rel=1e-4)  # at slightly different values of C
    assert fast.dual_gap_ <= 1e-5 * fast.objective_ * (1 + 1e-6)
    fast.verify(X, labels, weights)


def test_pairs_continue_while_the_margin_is_not_positive(monkeypatch):
    rng = np.random.default_rng(0)
    y = rng.integers(2, size=200)
    X = rng.standard_normal((200, 4)) + 0.5 * y[:, None]
    judge, calls = training.judge_classes, []

    def without_margin(*args):  # as at the first points of overlapping classes
        judged = judge(*args)
        calls.append(1)
        return judged if len(calls) > 2 else judged._replace(point=judged.point._replace(gap=np.inf, primal=np.inf))

    monkeypatch.setattr(training, "judge_classes", without_margin)
    model = NuSVC(nu=0.3).fit(X, y)
    assert len(calls) > 2 and model.certificate_.run["solver"] == "pairs within each sign"
    model.verify(X, y)


def test_a_limit_that_leaves_no_margin_is_an_error():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(700, 4)), (rng.normal(size=700) > 0).astype(int)
    with pytest.raises(
        SurefitError, match="NuSVC: the fit ended before a positive margin was found; increase max_time"
    ):
        NuSVC(nu=0.2, max_time=1e-9).fit(X, labels)


def test_points_that_alternate_within_rounding_end_the_search():
    X = [
        [24.28499070790021, -165.63454270422332, 65.6104877556666],
        [114.34530226920894, -45.2611003007899, 43.04857455543092],
    ]
    model = NuSVR(nu=0.1, tol=0.0, max_time=60.0)
    with pytest.warns(UserWarning):
        model.fit(X, [-17.0, -41.0])
    assert model.certificate_.run["reason"] == "stalled"
    model.verify(X, [-17.0, -41.0])
