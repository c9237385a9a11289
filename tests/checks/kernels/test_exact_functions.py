"""Gaps, distances and left-out errors in a kernel's space, against optimal functions with many digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import (
    SAMPLES,
    column,
    coordinates,
    inner,
    logistic,
    matrix,
    newton,
    number,
    numbers,
    penalized,
    rbf,
    require_upper,
    sample,
)

import surefit

pytestmark = pytest.mark.usefixtures("digits")

GAMMA = {"scales": 1e-12, "offsets": 0.5, "ties": 0.25}


def joined(Z, *columns):
    """Append columns to a matrix."""
    return mpmath.matrix([[*Z[i, :], *(c[i] for c in columns)] for i in range(Z.rows)])


def length(vector):
    return mpmath.sqrt(inner(vector, vector))


@pytest.mark.parametrize("data", SAMPLES)
def test_two_classes(data):
    X, _, c, _, w = sample(data)
    Z, C, n = coordinates(X, GAMMA[data]), 2.0, len(X)
    losses = [logistic(int(t), mpf(C) * s) for t, s in zip(2 * c - 1, w, strict=True)]
    for constant in (True, False):
        design = joined(Z, [mpf(1)] * n) if constant else Z
        best = penalized(design, lambda i, z: losses[i](z), [mpf(1)] * Z.cols + [mpf(0)] * constant)

        def objective(v, design=design):
            z = design * v
            return inner(v[: Z.cols], v[: Z.cols]) / 2 + sum(losses[i](z[i])[0] for i in range(n))

        for tol in (1e-2, 1e-9):
            model = surefit.KernelLogisticRegression(
                kernel="rbf", gamma=GAMMA[data], C=C, tol=tol, fit_intercept=constant
            )
            model.fit(X, c, sample_weight=w)
            own = mpmath.matrix([*(Z.T * column(model.dual_coef_)), *([number(model.intercept_[0])] * constant)])
            claim = model.certificate_["kernel_logistic.gap"]
            require_upper(claim, objective(own) - objective(best), claim.limit)
            claim = model.certificate_["kernel_logistic.distance"]
            require_upper(
                claim, length((own - best)[: Z.cols]), mpmath.sqrt(2 * model.certificate_["kernel_logistic.gap"].limit)
            )


@pytest.mark.parametrize("data", SAMPLES)
def test_three_classes(data):
    X, _, _, k, w = sample(data, n=7)
    Z, C, n, K = coordinates(X, GAMMA[data]), 2.0, len(X), 3
    p = Z.cols + 1
    design, s = joined(Z, [mpf(1)] * n), [mpf(C) * number(v) for v in w]

    def evaluate(v):
        """The objective, and half the squared sum of the intercepts, which is zero at a minimum."""
        parts = [v[a * p : (a + 1) * p, 0] for a in range(K)]
        scores = [design * part for part in parts]
        total = sum(part[p - 1] for part in parts)
        value = total**2 / 2 + sum(inner(part[: p - 1], part[: p - 1]) for part in parts) / 2
        gradient, hessian = mpmath.zeros(K * p, 1), mpmath.zeros(K * p)
        for a in range(K):
            for j in range(p - 1):
                gradient[a * p + j], hessian[a * p + j, a * p + j] = parts[a][j], mpf(1)
            gradient[a * p + p - 1] = total
            for b in range(K):
                hessian[a * p + p - 1, b * p + p - 1] = mpf(1)
        for i in range(n):
            powers = [mpmath.exp(scores[a][i]) for a in range(K)]
            shares = [q / sum(powers) for q in powers]
            value += s[i] * (mpmath.log(sum(powers)) - scores[int(k[i])][i])
            row = list(design[i, :])
            for a in range(K):
                slope = s[i] * (shares[a] - (a == k[i]))
                for j in range(p):
                    gradient[a * p + j] += slope * row[j]
                for b in range(K):
                    curved = s[i] * shares[a] * ((a == b) - shares[b])
                    for j in range(p):
                        for m in range(p):
                            hessian[a * p + j, b * p + m] += curved * row[j] * row[m]
        return value, gradient, hessian

    best = newton(evaluate, mpmath.zeros(K * p, 1))
    least = evaluate(best)[0]
    for tol in (1e-1, 1e-8):
        model = surefit.KernelLogisticRegression(kernel="rbf", gamma=GAMMA[data], C=C, tol=tol).fit(
            X, k, sample_weight=w
        )
        parts = [[*(Z.T * column(model.dual_coef_[a])), number(model.intercept_[a])] for a in range(K)]
        shift = sum(part[-1] for part in parts) / K
        own = mpmath.matrix([v for part in parts for v in [*part[:-1], part[-1] - shift]])
        claim = model.certificate_["kernel_softmax.gap"]
        require_upper(claim, evaluate(own)[0] - least, claim.limit)
        away = [own[a * p + j] - best[a * p + j] for a in range(K) for j in range(p - 1)]
        require_upper(model.certificate_["kernel_softmax.distance"], length(away), mpmath.sqrt(2 * claim.limit))


def squared(t, weight):
    return lambda z: (weight * (t - z) ** 2 / 2, weight * (z - t), weight)


@pytest.mark.parametrize("free", ["constant", "linear"])
@pytest.mark.parametrize("data", SAMPLES)
def test_composed_models(data, free):
    X, y, c, _, w = sample(data)
    Z, alpha, n = coordinates(X, GAMMA[data]), 0.02, len(X)
    s = [number(v) / number(w.sum()) for v in w]
    squares = [squared(number(t), v) for t, v in zip(y, s, strict=True)]
    signs = [logistic(int(t), v) for t, v in zip(2 * c - 1, s, strict=True)]
    for loss, target, losses in (("squared_error", y, squares), ("logistic", c, signs)):
        for tol in (1e-1, 1e-8):
            model = surefit.KernelModel(
                loss=loss,
                kernel="rbf",
                gamma=GAMMA[data],
                alpha=alpha,
                tol=tol,
                null_space=None if free == "constant" else free,
            ).fit(X, target, sample_weight=w)
            columns, own = [[mpf(1)] * n], [number(np.ravel(model.intercept_)[0])]
            if free == "linear":
                about = matrix(X) - mpmath.matrix([numbers(model.null_center_)] * n)
                columns, own = columns + [list(about[:, j]) for j in range(2)], own + numbers(model.null_coef_)
            design = joined(Z, *columns)

            def objective(v, design=design, losses=losses):
                z = design * v
                return mpf(alpha) * inner(v[: Z.cols], v[: Z.cols]) / 2 + sum(losses[i](z[i])[0] for i in range(n))

            best = penalized(
                design, lambda i, z, losses=losses: losses[i](z), [mpf(alpha)] * Z.cols + [mpf(0)] * len(columns)
            )
            point = mpmath.matrix([*(Z.T * column(model.dual_coef_)), *own])
            claim = model.certificate_["kernel_model.gap"]
            require_upper(claim, objective(point) - objective(best), claim.limit)
            require_upper(claim, objective(point), objective(point) * (1 + mpf(10) ** -5), "objective")


def ridge_values(design, free, y, weights, alpha):
    """Values of the function that minimizes sum_i s_i (y_i - z_i)^2 + alpha |w|^2; the last ``free`` coefficients cost nothing."""
    p = design.cols
    S = mpmath.diag(weights)
    penalty = mpmath.diag([mpf(alpha)] * (p - free) + [mpf(0)] * free)
    return design * mpmath.lu_solve(design.T * S * design + penalty, design.T * S * y)


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize("data", SAMPLES)
def test_left_out_errors(data, constant):
    X, y, _, _, w = sample(data)
    Z, t, s, n = coordinates(X, GAMMA[data]), column(y), numbers(w), len(X)
    design = joined(Z, [mpf(1)] * n) if constant else Z
    model = surefit.KernelRidgeCV(alphas=[1e-3, 0.1, 5.0], kernel="rbf", gamma=GAMMA[data], fit_intercept=constant)
    model.fit(X, y, sample_weight=w)
    total = mpf(0)
    for i in range(n):  # a weight counts repetitions of a row, of which one is left out
        left = [*s[:i], max(s[i] - 1, mpf(0)), *s[i + 1 :]]
        total += s[i] * (t[i] - ridge_values(design, constant, t, left, float(model.alpha_))[i]) ** 2
    truth = total / sum(s)
    require_upper(model.certificate_["kernel_ridge.leave_one_out"], truth, truth * (1 + mpf(10) ** -4))


@pytest.mark.filterwarnings("ignore:Sigmoid")
@pytest.mark.parametrize("data", SAMPLES)
def test_optimality_conditions_with_an_indefinite_kernel(data):
    X, y, _, _, w = sample(data)
    gamma, alpha = {"scales": 1e-12, "offsets": 1e-10, "ties": 0.25}[data], 0.7
    model = surefit.KernelRidge(alpha=alpha, kernel="sigmoid", gamma=gamma, coef0=0.5).fit(X, y, sample_weight=w)
    A, c = matrix(X), column(model.dual_coef_)
    K = A * A.T
    f = K.apply(lambda v: mpmath.tanh(number(gamma) * v + mpf(0.5))) * c
    # alpha c_i = s_i (y_i - f(x_i)) is the condition of row i
    truth = mpmath.fsum(
        number(s) * (number(t) - f[i] - mpf(alpha) * c[i] / number(s)) ** 2
        for i, (s, t) in enumerate(zip(w, y, strict=True))
        if s > 0
    )
    require_upper(
        model.certificate_["kernel_ridge.stationarity"], truth, model.certificate_["kernel_ridge.stationarity"].limit
    )


@pytest.mark.parametrize("kind", ["cosines and sines", "phases"])
@pytest.mark.parametrize("data", SAMPLES)
def test_random_features(data, kind):
    X, gamma, D = sample(data).X, GAMMA[data], 5
    if kind == "phases":
        model = surefit.RBFSampler(gamma=gamma, n_components=D, random_state=0).fit(X)
        angles, offset = matrix(X) * matrix(model.random_weights_), numbers(model.random_offset_)
        values = mpmath.matrix(
            [[mpmath.sqrt(2) * mpmath.cos(angles[i, j] + offset[j]) for j in range(D)] for i in range(len(X))]
        )
    else:
        model = surefit.RandomFourierFeatures(D, gamma=gamma, random_state=0).fit(X)
        angles = matrix(X) * matrix(model.frequencies_).T
        values = joined(angles.apply(mpmath.cos), *(list(angles[:, j].apply(mpmath.sin)) for j in range(angles.cols)))
    products, K = values * values.T / angles.cols, rbf(X, X, gamma)
    truth = max(abs(v) for v in products - K)
    require_upper(model.certificate_["feature_map.sample_error"], truth, truth * (1 + mpf(10) ** -6))
