"""Audits of scikit-learn's models: optima, left-out errors, evidence and neighbors against rationals and many digits."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from sklearn.gaussian_process import GaussianProcessClassifier, GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF
from sklearn.linear_model import ElasticNet, LassoCV, LinearRegression, LogisticRegression, Ridge, RidgeCV
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR
from tests.checks.exact import (
    SAMPLES,
    column,
    coordinates,
    inner,
    logistic,
    matrix,
    number,
    numbers,
    penalized,
    rbf,
    require_upper,
    sample,
    sparse_optimum,
    standard,
    with_constant,
)

import surefit

pytestmark = [
    pytest.mark.usefixtures("digits"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
GAMMA = {"scales": 1e-12, "offsets": 0.5, "ties": 0.25}
TINY = mpf(10) ** -6


def require_bracket(claim, objective, best):
    """The distance of the objective from the optimum lies between both stated numbers."""
    require_upper(claim, objective - best, claim.limit + 2 * (objective - best))
    require_upper(claim, objective, objective * (1 + TINY), "objective")
    assert claim.numbers["at_least"] <= objective - best


@pytest.mark.parametrize("data", SAMPLES)
def test_gaps_of_linear_models(data):
    X, y, c, _, w = sample(data)
    Z, s, n = with_constant(X), numbers(w), len(X)
    alpha, share = 0.2, 0.5
    for tol in (1e-1, 1e-8):
        model = ElasticNet(alpha=alpha, l1_ratio=share, tol=tol).fit(X, y, sample_weight=w)

        def squares(v, s=s):
            rest = column(y) - Z * v
            return mpmath.fsum(a * r * r for a, r in zip(s, rest, strict=True))

        def value(v):
            lengths = sum(mpf(share) * abs(u) + mpf(1 - share) * u * u / 2 for u in v[:2])
            return squares(v) / (2 * sum(s)) + mpf(alpha) * lengths

        own = column([*model.coef_, model.intercept_])
        best = [number(v) for v in sparse_optimum(X, y, w, alpha * share, alpha * (1 - share))]
        means = [inner(s, list(Z[:, j])) / sum(s) for j in range(2)]
        free = inner(s, numbers(y)) / sum(s) - inner(means, best)
        claim = surefit.certify(model, X, y, w)["audit.gap"]
        require_bracket(claim, value(own), value(mpmath.matrix([*best, free])))
        C = 0.4
        model = LogisticRegression(C=C, tol=tol).fit(X, c, sample_weight=w)
        losses = [logistic(int(t), mpf(C) * a) for t, a in zip(2 * c - 1, s, strict=True)]

        def objective(v, losses=losses):
            z = Z * v
            return sum(losses[i](z[i])[0] for i in range(n)) + inner(v[:2], v[:2]) / 2

        best = penalized(Z, lambda i, z, losses=losses: losses[i](z), [mpf(1), mpf(1), mpf(0)])
        own = column([*model.coef_[0], model.intercept_[0]])
        require_bracket(surefit.certify(model, X, c, w)["audit.gap"], objective(own), objective(best))


def machine(K, targets, duals, C, free):
    """Solve the optimality conditions of a machine for its free rows, with many digits: coefficients and intercept."""
    n = K.rows
    on = [i for i in range(n) if free[i]]
    fixed = mpmath.matrix([mpf(0) if free[i] else number(np.sign(duals[i]) * C) for i in range(n)])
    rest = K * fixed
    A = mpmath.matrix(len(on) + 1)
    right = mpmath.matrix([targets[i] - rest[i] for i in on] + [-mpmath.fsum(fixed)])
    for a, i in enumerate(on):
        for b, j in enumerate(on):
            A[a, b] = K[i, j]
        A[a, len(on)] = A[len(on), a] = mpf(1)
    found = mpmath.lu_solve(A, right)
    for a, i in enumerate(on):
        fixed[i] = found[a]
    return fixed, found[len(on)]


@pytest.mark.parametrize("tol", [1e-1, 1e-6])
@pytest.mark.parametrize("data", ["scales", "offsets"])
def test_gaps_of_machines(data, tol):
    X, y, c, _, _ = sample(data)
    K, signs, C, width, n = rbf(X, X, GAMMA[data]), 2 * c - 1, 40.0 if data == "scales" else 2.0, 0.2, len(X)
    for kind, ours, target in ((SVC, surefit.SVC, c), (SVR, surefit.SVR, y)):
        options = {"gamma": GAMMA[data], "C": C, **({"epsilon": width} if kind is SVR else {})}
        model = kind(tol=tol, **options).fit(X, target)
        precise = ours(tol=1e-12, **options).fit(X, target)
        duals = np.zeros(n)
        duals[precise.support_] = np.ravel(precise.dual_coef_)
        free = [1e-6 < abs(v) < C - 1e-6 for v in duals]
        wanted = [
            number(signs[i]) if kind is SVC else number(y[i]) - mpf(width) * int(np.sign(duals[i])) for i in range(n)
        ]
        best, b = machine(K, wanted, duals, C, free)

        def slack(i, f, kind=kind):
            return (
                max(1 - int(signs[i]) * f, mpf(0)) if kind is SVC else max(abs(f - number(y[i])) - mpf(width), mpf(0))
            )

        def objective(v, b, slack=slack):
            f = K * v
            return inner(v, f) / 2 + mpf(C) * sum(slack(i, f[i] + b) for i in range(n))

        f = K * best
        dual = (
            sum(v * (number(signs[i]) if kind is SVC else number(y[i])) for i, v in enumerate(best))
            - inner(best, f) / 2
        )
        dual -= 0 if kind is SVC else mpf(width) * sum(map(abs, best))
        assert all(abs(v) <= C for v in best) and abs(objective(best, b) - dual) < mpf(10) ** -40  # the exact optimum
        own = mpmath.zeros(n, 1)
        for i, v in zip(model.support_.tolist(), np.ravel(model.dual_coef_), strict=True):
            own[i] = number(v)
        value = objective(own, number(model.intercept_[0]))
        require_bracket(surefit.certify(model, X, target)["audit.svm_gap"], value, objective(best, b))


@pytest.mark.filterwarnings("ignore:Sigmoid")
@pytest.mark.parametrize("tol", [1e-1, 1e-6])
@pytest.mark.parametrize("data", SAMPLES)
def test_conditions_of_machines_with_an_indefinite_kernel(data, tol):
    X, _, c, _, _ = sample(data)
    X, gamma, C, signs = standard(X), 0.3, 1.5, 2 * c - 1
    model = SVC(kernel="sigmoid", gamma=gamma, C=C, tol=tol).fit(X, c)
    K = (matrix(X) * matrix(X).T).apply(lambda v: mpmath.tanh(mpf(gamma) * v))
    own = mpmath.zeros(len(X), 1)
    for i, v in zip(model.support_.tolist(), model.dual_coef_[0], strict=True):
        own[i] = number(v)
    f = K * own
    truth = mpf(0)
    for i, t in enumerate(
        signs.tolist()
    ):  # a coefficient of 0, between 0 and C, or C needs a margin of 1 or more, 1, or less
        short = 1 - t * (f[i] + number(model.intercept_[0]))
        truth += mpf(C) * max(short, mpf(0)) - min(max(t * own[i], mpf(0)), mpf(C)) * short
    claim = surefit.certify(model, X, c)["audit.svm_stationarity"]
    require_upper(claim, truth, 2 * truth + TINY)


def left_out(Z, y, alpha):
    """Mean squared error of least squares with the penalty alpha |w|^2 and a free last coefficient, each row left out once."""
    total = mpf(0)
    for i in range(Z.rows):
        rows = [j for j in range(Z.rows) if j != i]
        A, t = mpmath.matrix([list(Z[j, :]) for j in rows]), mpmath.matrix([y[j] for j in rows])
        v = mpmath.lu_solve(A.T * A + mpmath.diag([alpha] * (Z.cols - 1) + [mpf(0)]), A.T * t)
        total += (y[i] - (Z[i, :] * v)[0]) ** 2
    return total / Z.rows


@pytest.mark.parametrize("data", SAMPLES)
def test_left_out_errors_and_choices_by_them(data):
    X, y, _, _, _ = sample(data)
    Z, t = with_constant(X), column(y)
    for model, alpha in ((LinearRegression(), 0.0), (Ridge(0.3), 0.3), (RidgeCV([0.01, 1.0, 100.0]), None)):
        found = surefit.certify(model.fit(X, y), X, y)
        truth = left_out(Z, t, number(model.alpha_ if alpha is None else alpha))
        require_upper(found["audit.leave_one_out"], truth, 2 * truth if data == "scales" else truth * (1 + 100 * TINY))
    errors = {alpha: left_out(Z, t, number(alpha)) for alpha in (0.01, 1.0, 100.0)}
    claim = found["audit.choice_by_left_out"]
    require_upper(claim, errors[model.alpha_] / min(errors.values()) - 1, 1e-3)
    assert claim.numbers["chosen"] == model.alpha_


def test_choices_by_scores():
    for data in SAMPLES:
        X, y, _, _, _ = sample(data, n=12)
        model = LassoCV(cv=3, alphas=[1e-3, 0.01, 0.1, 1.0]).fit(X, y)
        means = [-sum(Fraction(float(v)) for v in line) / 3 for line in model.mse_path_]
        chosen = model.alphas_.tolist().index(model.alpha_)
        claim = surefit.certify(model, X, y)["audit.choice_by_scores"]
        require_upper(claim, number(max(means) - means[chosen]), 1e-12)
        assert claim.numbers["folds"] == 3 and claim.numbers["candidates"] == 4


@pytest.mark.parametrize("data", SAMPLES)
def test_processes(data):
    X, y, c, _, _ = sample(data)
    length, n, t = 1e6 if data == "scales" else 1.0, len(X), column(y)
    K = rbf(X, X, 1 / (2 * number(length) ** 2))
    model = GaussianProcessRegressor(RBF(length), alpha=1e-3, optimizer=None).fit(X, y)
    A, total = K + mpf(1e-3) * mpmath.eye(n), mpf(0)
    for i in range(n):
        rows = [j for j in range(n) if j != i]
        part = mpmath.matrix([[A[a, b] for b in rows] for a in rows])
        weights = mpmath.lu_solve(part, mpmath.matrix([t[j] for j in rows]))
        total += (t[i] - mpmath.fsum(K[i, j] * v for j, v in zip(rows, weights, strict=True))) ** 2 / n
    require_upper(surefit.certify(model, X, y)["audit.gaussian_process.leave_one_out"], total, total * (1 + 100 * TINY))
    model = GaussianProcessClassifier(RBF(length), optimizer=None).fit(X, c)
    losses = [logistic(int(s), mpf(1)) for s in 2 * c - 1]
    Z = coordinates(X, 1 / (2 * number(length) ** 2))
    best = penalized(Z, lambda i, z: losses[i](z), [mpf(1)] * Z.cols)
    f = Z * best
    roots = [mpmath.sqrt(losses[i](f[i])[2]) for i in range(n)]
    B = mpmath.eye(n) + mpmath.matrix([[roots[i] * K[i, j] * roots[j] for j in range(n)] for i in range(n)])
    truth = -inner(best, best) / 2 - sum(losses[i](f[i])[0] for i in range(n)) - mpmath.log(mpmath.det(B)) / 2
    claim = surefit.certify(model, X, c)["audit.gaussian_process_classifier.evidence"]
    require_upper(claim, abs(truth - number(model.log_marginal_likelihood_value_)), 1e-3)


@pytest.mark.parametrize("data", SAMPLES)
def test_neighbors(data):
    X, _, c, _, _ = sample(data)
    model = KNeighborsClassifier(3).fit(X, c)
    found = surefit.certify(model, X, c)
    A = [[Fraction(float(v)) for v in row] for row in X]
    squares = [[sum((p - q) ** 2 for p, q in zip(a, b, strict=True)) for b in A] for a in A]
    places = model.kneighbors(X, return_distance=False)
    wrong = sum(sorted(squares[i][j] for j in places[i]) != sorted(squares[i])[:3] for i in range(len(X)))
    assert found["audit.neighbors.nearest"].value == wrong == 0
    assert found["audit.neighbors.rows"].value == 0
    other, labels = X.copy(), c.copy()
    other[2, 0] += 1.0
    labels[[2, 4]] = 1 - labels[[2, 4]]
    assert surefit.certify(model, other, labels)["audit.neighbors.rows"].value == 2  # rows that were changed
