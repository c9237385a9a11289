"""Fits on landmarks against the optimum of the exact kernel problem, with sixty digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.forging import proved

from surefit import SVC, KernelLogisticRegression, NystroemLogisticRegression, NystroemRidge, NystroemSVC

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")  # of the tight fits
N = 10
SHAPES = {"plain": ([1.0, 1.0], 0.0), "large and small": ([1e6, 1e-6], 0.0), "shifted": ([1e-3, 1e-3], 1.0)}
WEIGHTS = np.array([1.0, 2.0, 0.5, 1.0, 0.0, 3.0, 1.0, 1 / 3, 1.0, 0.2])


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def column(values):
    return mpmath.matrix([mpf(float(v)) for v in np.ravel(values)])


def sample(shape, seed=0):
    scale, shift = SHAPES[shape]
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N, 2))
    y = np.sin(2 * X[:, 0]) + 0.3 * rng.normal(size=N)
    X[5] = X[2]
    return X * scale + shift, y, 0.7 / max(scale) ** 2


def gaussian(X, gamma):
    rows = [[mpf(float(v)) for v in row] for row in X]
    return mpmath.matrix(
        [[mpmath.exp(-mpf(gamma) * sum((p - q) ** 2 for p, q in zip(a, b, strict=True))) for b in rows] for a in rows]
    )


def spread_out(model, coef=None):
    """The coefficients of the landmarks as coefficients of all rows."""
    full = mpmath.zeros(N, 1)
    for i, v in zip(model.landmarks_.tolist(), np.ravel(model.dual_coef_ if coef is None else coef), strict=True):
        full[i] += mpf(float(v))
    return full


def form(v, K):
    return (v.T * K * v)[0]


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", [False, True])
def test_ridge(shape, weighted, intercept):
    X, y, gamma = sample(shape)
    s, K, t = WEIGHTS if weighted else np.ones(N), gaussian(X, gamma), column(y)
    W, ones = mpmath.diag(list(column(s))), mpmath.matrix([1] * N)
    for alpha in (1e-3, 1.0):
        model = NystroemRidge(alpha, gamma=gamma, n_landmarks=4, fit_intercept=intercept, random_state=0)
        model.fit(X, y, sample_weight=s if weighted else None)

        def objective(c, b, alpha=alpha):
            r = t - K * c - b * ones
            return (r.T * W * r)[0] + mpf(alpha) * form(c, K)

        def smallest(B, alpha=alpha):
            """The smallest objective over ``f = sum_j (B a)_j k(x_j, .)`` and the intercept, by normal equations."""
            m = B.cols + intercept
            A, g = mpmath.zeros(m, m), mpmath.zeros(m, 1)
            columns = [K * B[:, j] for j in range(B.cols)] + [ones] * intercept
            for i in range(m):
                g[i] = (columns[i].T * W * t)[0]
                for j in range(m):
                    A[i, j] = (columns[i].T * W * columns[j])[0]
                    if max(i, j) < B.cols:
                        A[i, j] += mpf(alpha) * (B[:, i].T * K * B[:, j])[0]
            found = mpmath.lu_solve(A, g)
            return B * found[: B.cols], found[m - 1] if intercept else mpf(0)

        keep = [i for i in range(N) if i != 5]  # a row that occurs twice is one direction
        best = smallest(mpmath.matrix([[int(i == j) for j in keep] for i in range(N)]))
        span = smallest(mpmath.matrix([[int(i == j) for j in model.landmarks_.tolist()] for i in range(N)]))
        b = mpf(float(np.ravel(model.intercept_)[0]))
        claims = model.certificate_
        assert claims["nystroem.gap"].numbers == {"rank": 4, "landmarks": 4, "kernel_known": True}
        for factor in (1.0, 0.9):  # the fit, and a function that is too small
            wrong = factor * model.dual_coef_
            c = spread_out(model, wrong)
            names = ("nystroem.exact_gap", "nystroem.gap", "nystroem.distance")
            stated = [claims[name].value for name in names] if factor == 1 else [
                proved(model, name, X, y, s if weighted else None, dual_coef_=wrong).value for name in names]  # fmt: skip
            own = objective(c, b)
            assert own - objective(*best) <= stated[0] <= 30 * (own - objective(*best)) + 1e-9
            assert own - objective(*span) <= stated[1]
            assert factor == 1 or stated[1] <= 1e3 * (own - objective(*span)) / min(alpha, 1)
            away = mpmath.sqrt(abs(form(c - best[0], K)))
            assert away <= stated[2] <= 100 * away / min(alpha, 1) + 1e-6


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("landmarks", "whole", "loss"),
    [
        (NystroemSVC, SVC, lambda u: max(mpf(0), 1 - u)),
        (NystroemLogisticRegression, KernelLogisticRegression, lambda u: mpmath.log1p(mpmath.exp(-u))),
    ],
)
def test_classifiers(shape, weighted, landmarks, whole, loss):
    X, y, gamma = sample(shape, 1)
    s, K, t = WEIGHTS if weighted else np.ones(N), gaussian(X, gamma), np.where(y > 0, 1, -1)
    weights = s if weighted else None
    model = landmarks(C=2.0, gamma=gamma, n_landmarks=4, random_state=0).fit(X, t, sample_weight=weights)
    tight = whole(C=2.0, gamma=gamma, tol=1e-12).fit(X, t, sample_weight=weights)
    best = mpmath.zeros(N, 1)
    rows = tight.support_ if whole is SVC else np.arange(N)
    for i, v in zip(np.asarray(rows).tolist(), np.ravel(tight.dual_coef_), strict=True):
        best[i] += mpf(float(v))

    def objective(c, b):
        f = K * c
        return form(c, K) / 2 + 2 * sum(w * loss(int(v) * (z + b)) for w, v, z in zip(column(s), t, f, strict=True))

    least = objective(best, mpf(float(np.ravel(tight.intercept_)[0])))
    b, claims = mpf(float(np.ravel(model.intercept_)[0])), model.certificate_
    for factor in (1.0, 0.8):
        wrong = factor * model.dual_coef_
        names = ("nystroem.exact_gap", "nystroem.distance")
        gap, distance = [claims[name].value for name in names] if factor == 1 else [
            proved(model, name, X, t, weights, dual_coef_=wrong).value for name in names]  # fmt: skip
        c = spread_out(model, wrong)
        assert objective(c, b) - least <= gap <= 50 * (objective(c, b) - least) + 1e-2
        prefix = "svc" if whole is SVC else "kernel_logistic"
        away = mpmath.sqrt(abs(form(c - best, K)))
        assert away <= distance + tight.certificate_[f"{prefix}.distance"].value
