"""The checker of support vector machines, fed with dual vectors from anywhere: it never believes, it re-derives."""

from fractions import Fraction

import numpy as np
import pytest
from sklearn.svm import SVC as TheirSVC
from sklearn.svm import SVR as TheirSVR

from surefit.checks.judge import judge
from surefit.checks.kernels.machines import Machine, examine, gap
from surefit.core.catalog import entry
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.fingerprint import data_fingerprint
from surefit.core.sample import read
from surefit.kernels import RBF, Linear


def certificate(X, y, support, dual, b, *, kernel, C=1.0, weights=None, epsilon=None, **problem):
    data = read(X, y, weights)
    statement = {
        "C": C,
        "fit_intercept": True,
        "tol": 1e-3,
        "kernel": kernel.to_record(),
        "classes": None,
        "epsilon": epsilon,
    }
    if epsilon is None:
        statement.update(classes=[-1.0, 1.0], class_weights=[1.0, 1.0], strategy="ovo")
    return Certificate(
        grade="A", estimator="SVC", params={}, problem={**statement, **problem},
        model={"support_": np.asarray(support), "dual_coef_": np.atleast_2d(dual), "intercept_": np.atleast_1d(b)},
        data=data_fingerprint(data.X, data.y, data.weights),
        claims=(Claim("svc.gap"),),
    )  # fmt: skip


def proof(X, y, *arguments, weights=None, **options):
    return examine(certificate(X, y, *arguments, weights=weights, **options), read(X, y, weights))[0]


def problem(seed=0, n=50):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 2))
    return X, np.where(X[:, 0] + 0.7 * rng.standard_normal(n) > 0, 1.0, -1.0)


def test_worked_example_in_exact_arithmetic():
    # x = (0, 1, 3, 5), labels (-, -, +, +), C = 0.3: alpha = 0.3 on the middle rows, w = 0.6, b anywhere in [-1.6, -1], P = D = 0.42
    X, y = np.array([[0.0], [1.0], [3.0], [5.0]]), np.array([-1.0, -1.0, 1.0, 1.0])
    for b in (-1.6, -1.3, -1.0):
        found = proof(X, y, [1, 2], [-0.3, 0.3], b, kernel=Linear(), C=0.3)
        assert 0 <= found.gap <= 1e-13 and found.objective == pytest.approx(0.42)
    # b = -0.9: rows 0 and 1 have scores -0.9 and -0.3, so slacks 0.1 and 0.7; P = 0.18 + 0.3 (0.1 + 0.7 + 0.1 + 0)
    slack = [Fraction(1, 10), Fraction(7, 10), Fraction(1, 10), Fraction(0)]
    primal = Fraction(18, 100) + Fraction(3, 10) * sum(slack)
    found = proof(X, y, [1, 2], [-0.3, 0.3], -0.9, kernel=Linear(), C=0.3)
    assert found.gap == pytest.approx(float(primal - Fraction(42, 100)), abs=1e-13) and found.gap >= found.gap_mid


@pytest.mark.parametrize("seed", range(3))
def test_models_of_libsvm_are_judged_fairly(seed):
    X, y = problem(seed)
    best = TheirSVC(gamma=0.5, tol=1e-10).fit(X, y)
    for tol in (1.0, 1e-2, 1e-8):
        model = TheirSVC(gamma=0.5, tol=tol).fit(X, y)
        found = proof(X, y, model.support_, model.dual_coef_, model.intercept_, kernel=RBF(gamma=0.5))
        excess = objective(model, X, y) - objective(best, X, y)
        assert excess <= found.gap + 1e-9
    assert found.gap <= 1e-5


def objective(model, X, y):
    norm = (model.dual_coef_ @ RBF(gamma=0.5)(model.support_vectors_) @ model.dual_coef_.T).item()
    return norm / 2 + np.maximum(1 - y * model.decision_function(X), 0).sum()


def test_regression_of_libsvm():
    X, _ = problem(3)
    y = X[:, 0] ** 2
    model = TheirSVR(gamma=0.5, tol=1e-10).fit(X, y)
    found = proof(X, y, model.support_, model.dual_coef_, model.intercept_, kernel=RBF(gamma=0.5), epsilon=0.1)
    assert 0 <= found.gap <= 1e-5


def test_weights_change_the_box():
    X, y = problem(4)
    s = np.random.default_rng(0).uniform(0.5, 2.0, len(y))
    model = TheirSVC(gamma=0.5, tol=1e-10).fit(X, y, sample_weight=s)
    arguments = (X, y, model.support_, model.dual_coef_, model.intercept_)
    assert proof(*arguments, kernel=RBF(gamma=0.5), weights=s).gap <= 1e-5
    assert proof(*arguments, kernel=RBF(gamma=0.5)).gap > 0.1  # coefficients above 1 are outside the plain box


@pytest.mark.parametrize("change", ["sign", "outside", "sum", "offset", "kernel"])
def test_wrong_evidence_gives_a_large_gap(change):
    X, y = problem(5)
    model = TheirSVC(gamma=0.5, tol=1e-10).fit(X, y)
    dual, b, kernel = model.dual_coef_.copy(), float(model.intercept_[0]), RBF(gamma=0.5)
    if change == "sign":
        dual = -dual
    elif change == "outside":
        dual[0, 0] *= 1.5 / abs(dual[0, 0])
    elif change == "sum":
        dual[0, np.argmax(dual)] *= 0.5
    elif change == "offset":
        b += 0.3
    else:
        kernel = RBF(gamma=0.6)
    assert proof(X, y, model.support_, dual, b, kernel=kernel).gap > 1e-3


def test_a_claim_below_the_truth_is_refused():
    X, y = problem(6)
    model = TheirSVC(gamma=0.5, tol=0.5).fit(X, y)
    arguments = (X, y, model.support_, model.dual_coef_, model.intercept_)
    true = proof(*arguments, kernel=RBF(gamma=0.5))
    numbers, limit = {"kernel_known": True}, 1e-4 * true.objective
    for value, ok in (
        (true.gap * (1 + 1e-15), True),
        (true.gap * (1 - 1e-9), False),
        (0.9 * true.gap, False),
        (2 * true.gap, True),
    ):
        issued = certificate(*arguments, kernel=RBF(gamma=0.5))
        stated = Claim("svc.gap", value, limit, numbers)
        assert judge(entry("svc.gap"), stated, gap(issued, stated, read(X, y))).ok is ok


def test_hard_margin_by_hand():
    X, y = np.array([[1.0], [3.0]]), np.array([-1.0, 1.0])
    exact = proof(X, y, [0, 1], [-0.5, 0.5], -2.0, kernel=Linear(), C=np.inf)
    assert 0 <= exact.gap <= 1e-13 and exact.objective == pytest.approx(0.5)
    longer = proof(
        X, y, [0, 1], [-0.6, 0.6], -2.4, kernel=Linear(), C=np.inf
    )  # w = 1.2: feasible, price 0.72 against 0.5
    assert longer.gap == pytest.approx(0.22)
    assert proof(X, y, [0, 1], [-0.5, 0.5], 0.0, kernel=Linear(), C=np.inf).gap == np.inf  # the wrong side


def test_memory_stays_linear():
    import tracemalloc

    X, y = problem(7, n=6000)
    support = np.arange(4000)  # a matrix of all kernel values between would take 192 MB
    tracemalloc.start()
    found = proof(X, y, support, 0.1 * y[support], 0.0, kernel=RBF(gamma=0.5))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 120e6 and np.isfinite(found.gap)


def test_a_machine_knows_whether_it_is_hard():
    ones = np.ones(2)
    assert Machine(np.arange(2), ones, 0 * ones, np.inf * ones, 0.0, ones, 0.0, True).hard
