"""Gaps, distances and violated conditions of support vector machines against sixty digits.

A tight fit gives a function whose objective is at least the smallest one, so a loose fit exceeds the smallest one by no less than their
difference. For indefinite kernels the violation is the sum of the terms of ``svm-gap`` and ``nu-gap``, evaluated at the stored numbers.
"""

import math

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.forging import proved

from surefit import SVC, SVR, NuSVC, NuSVR, OneClassSVM

pytestmark = [
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),  # of the tight fits
    pytest.mark.filterwarnings("ignore::surefit.core.errors.DataWarning"),  # of the indefinite kernel
]
N, NU = 12, 0.6
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 1.0, 3.0, 1 / 3, 1.0, 0.2, 1.0, 1.0])
SHAPES = {"plain": [1.0, 1.0], "large and small": [1e6, 1e-6], "small": [1e-6, 1e-6]}


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def sample(shape, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    y = X[:, 0] + 0.5 * rng.normal(size=N)
    t = np.where(y + 0.5 * rng.normal(size=N) > 0, 1, -1)
    t[:2], X[5] = (1, -1), X[4]
    return X * SHAPES[shape], y, t


def digits(values):
    return [mpf(float(v)) for v in np.ravel(values)]


def matrix(X, kernel):
    rows = [digits(row) for row in X]
    return mpmath.matrix([[kernel(a, b) for b in rows] for a in rows])


def gaussian(gamma):
    return lambda a, b: mpmath.exp(-mpf(gamma) * sum((p - q) ** 2 for p, q in zip(a, b, strict=True)))


def sigmoid(gamma, shift):
    return lambda a, b: mpmath.tanh(mpf(gamma) * sum(p * q for p, q in zip(a, b, strict=True)) + mpf(shift))


class Fitted:
    """The numbers of a machine with many digits: coefficients, scores, intercept and half the squared norm."""

    def __init__(self, model, K, wrong=()):
        found = {"dual_coef_": model.dual_coef_, "intercept_": model.intercept_, **dict(wrong)}
        self.beta = mpmath.zeros(N, 1)
        for i, v in zip(model.support_.tolist(), np.ravel(found["dual_coef_"]), strict=True):
            self.beta[i] = mpf(float(v))
        self.f, self.b = K * self.beta, mpf(float(np.ravel(found["intercept_"])[0]))
        self.half = (self.beta.T * self.f)[0] / 2


def objective(model, at, y, s):
    """The problems of the pages: a classifier is brought back from margin one to its margin."""
    if isinstance(model, NuSVC):
        rho = 1 / mpf(float(np.ravel(model.C_)[0]))
        slack = sum(w * max(0, rho - v * rho * (f + at.b)) for w, v, f in zip(s, y, at.f, strict=True))
        return rho**2 * at.half + slack - mpf(NU) * rho * sum(s)
    if isinstance(model, OneClassSVM):
        return at.half + sum(w * max(0, -at.b - f) for w, f in zip(s, at.f, strict=True)) + at.b * mpf(NU) * sum(s)
    eps, c = mpf(float(model.epsilon_)), [mpf(model.C) * w for w in s]
    loss = sum(w * max(0, abs(v - f - at.b) - eps) for w, v, f in zip(c, y, at.f, strict=True))
    return at.half + loss + mpf(NU) * eps * sum(c)


CASES = [
    (NuSVC, "nu_svc.gap", "nu_svc.stationarity"),
    (NuSVR, "nu_svr.gap", "nu_svr.stationarity"),
    (OneClassSVM, "one_class.gap", "one_class.stationarity"),
]


def scale_of(model):
    """The squared scale of the scores: those of a classifier are divided by its margin."""
    return mpf(float(np.ravel(model.C_)[0])) ** 2 if isinstance(model, NuSVC) else 1


def moved(model):
    """Other coefficients and intercepts than those of the fit."""
    return [{"intercept_": model.intercept_ + 0.1}, {"dual_coef_": 0.97 * model.dual_coef_}]


def data_of(cls, y, t):
    return {NuSVC: t, NuSVR: y, OneClassSVM: None}[cls]


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("cls", "name", "_"), CASES)
def test_gap_with_a_free_level(shape, weighted, cls, name, _):
    X, y, t = sample(shape)
    weights, gamma = WEIGHTS if weighted else np.ones(N), 0.7 / max(SHAPES[shape]) ** 2
    K, s, target = matrix(X, gaussian(gamma)), digits(weights), data_of(cls, y, t)
    loose, tight = (
        cls(nu=NU, gamma=gamma, tol=tol).fit(X, target, sample_weight=weights if weighted else None)
        for tol in (1e-1, 1e-12)
    )
    labels = digits(np.zeros(N) if target is None else target)
    values = [objective(model, Fitted(model, K), labels, s) for model in (loose, tight)]
    scale, claim = scale_of(loose), loose.certificate_[name]
    assert claim.value >= scale * (values[0] - values[1]) >= -tight.certificate_[name].value
    assert claim.value <= 0.2 * float(scale) * (1 + abs(float(values[0]))) + 1e-9
    for wrong in moved(tight):  # a worse point: the checker proves its larger gap
        proof = proved(tight, name, X, target, weights if weighted else None, **wrong)
        gap = scale_of(tight) * (objective(tight, Fitted(tight, K, wrong), labels, s) - values[1])
        assert proof.value >= gap > 10 * tight.certificate_[name].value and proof.value <= 100 * gap


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("tol", [1e-1, 1e-3, 1e-6])
def test_distance_from_a_multiple_of_the_optimum(shape, tol):
    X, _, t = sample(shape, 1)
    gamma = 0.7 / max(SHAPES[shape]) ** 2
    K = matrix(X, gaussian(gamma))
    loose, tight = (NuSVC(nu=NU, gamma=gamma, tol=tol).fit(X, t) for tol in (tol, 1e-13))
    a, b = Fitted(loose, K), Fitted(tight, K)
    multiple = (a.beta.T * b.f)[0] / (2 * b.half)
    apart = a.beta - multiple * b.beta
    distance = mpmath.sqrt(abs((apart.T * K * apart)[0]))
    claims = [model.certificate_["nu_svc.distance"].value for model in (loose, tight)]
    assert distance <= claims[0] + multiple * claims[1] and claims[1] <= 1e-2
    assert claims[0] <= 3 * float(mpmath.sqrt(2 * a.half)) + 1e-6
    support = np.arange(len(tight.support_))
    wrong = tight.dual_coef_ * (1 + 0.05 * np.cos(support))  # another shape, not only another length
    bent = Fitted(tight, K, {"dual_coef_": wrong})
    apart = bent.beta - (bent.beta.T * b.f)[0] / (2 * b.half) * b.beta
    value = proved(tight, "nu_svc.distance", X, t, dual_coef_=wrong).value
    distance = mpmath.sqrt(abs((apart.T * K * apart)[0]))
    assert 10 * claims[1] < distance + 1 and distance <= value <= 300 * distance + 1


def violation(model, at, y, s):
    """The sum of the terms of a row and of the unused part of the constraint on the sum of coefficients."""
    classes = isinstance(model, (SVC, NuSVC))
    single = isinstance(model, OneClassSVM)
    C = 1 if single else float(np.ravel(model.C_)[0]) if isinstance(model, NuSVC) else model.C
    eps = 0 if classes or single else mpf(float(model.epsilon_ if isinstance(model, NuSVR) else model.epsilon))
    total = mpf(0)
    for w, v, f, beta in zip(s, y, at.f, at.beta, strict=True):
        c, r = mpf(C) * w, v - f - at.b
        loss = max(0, v * r) if classes else max(0, r) if single else max(0, abs(r) - eps)
        total += c * loss + eps * abs(beta) - beta * r
    if isinstance(model, NuSVR):
        total += eps * max(mpf(NU) * sum(mpf(C) * w for w in s) - sum(abs(v) for v in at.beta), 0)
    return total


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("cls", "name"), [(SVC, "svc.stationarity"), (SVR, "svr.stationarity"), *((cls, name) for cls, _, name in CASES)]
)
def test_violated_conditions_of_an_indefinite_kernel(weighted, cls, name):
    for shape, seed in [("plain", 2), ("plain", 3), ("small", 4), ("large and small", 5)]:
        X, y, t = sample(shape, seed)
        weights, gamma = WEIGHTS if weighted else np.ones(N), 0.4 / max(SHAPES[shape]) ** 2
        K, target = matrix(X, sigmoid(gamma, -0.3)), t if cls is SVC else y if cls is SVR else data_of(cls, y, t)
        level = {} if cls in (SVC, SVR) else {"nu": NU}
        labels = digits(np.zeros(N) if target is None else target)
        for tol in (1e-1, 1e-6):
            model = cls(kernel="sigmoid", gamma=gamma, coef0=-0.3, tol=tol, **level)
            model.fit(X, target, sample_weight=weights if weighted else None)
            truth, claim = violation(model, Fitted(model, K), labels, digits(weights)), model.certificate_[name]
            assert claim.value >= truth >= -1e-12
            assert claim.value <= 1.01 * truth + 1e-9
            wrong = {"intercept_": model.intercept_ + 1.5}
            truth = violation(model, Fitted(model, K, wrong), labels, digits(weights))
            value = proved(model, name, X, target, weights if weighted else None, **wrong).value
            assert 1e-3 < truth <= value <= 1.01 * truth


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("tol", [1e-1, 1e-3])
def test_budget_of_slack(shape, tol):
    X, _, t = sample(shape, 3)
    gamma, budget = 0.7 / max(SHAPES[shape]) ** 2, 4.0
    K = matrix(X, gaussian(gamma))
    loose, tight = (SVC(gamma=gamma, budget=budget, tol=tol).fit(X, t) for tol in (tol, 1e-11))
    a, b = Fitted(loose, K), Fitted(tight, K)
    slacks = [sum(max(0, 1 - v * (f + at.b)) for v, f in zip(digits(t), at.f, strict=True)) for at in (a, b)]
    claim, C = loose.certificate_["svc.budget"], mpf(float(tight.C_))
    assert claim.numbers["budget"] == budget
    assert slacks[0] <= claim.numbers["slack"] <= slacks[0] + mpf(10) ** -6
    over = 2 * C * max(slacks[1] - mpf(budget), 0)  # the tight fit may exceed the budget by a rounding error
    assert claim.value >= a.half - b.half - over and claim.value <= 0.5 * float(a.half)
    wrong = {"dual_coef_": 1.05 * tight.dual_coef_, "intercept_": 1.05 * tight.intercept_}
    long = Fitted(tight, K, wrong)
    proof = proved(tight, "svc.budget", X, t, **wrong)
    slack = sum(max(0, 1 - v * (f + long.b)) for v, f in zip(digits(t), long.f, strict=True))
    assert slack <= proof.numbers["slack"].value and long.half - b.half - over <= proof.value
    assert long.half - b.half > 0.01 * b.half and proof.value < math.inf
