"""Derivatives of the evidence of Gaussian processes and modes of classifiers, against many digits."""

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
    number,
    numbers,
    penalized,
    rbf,
    require_upper,
    sample,
)

import surefit
from surefit.kernels import RBF, Constant, Noise

pytestmark = pytest.mark.usefixtures("digits")


@pytest.mark.parametrize("shift", [0.0, 1e6])  # a target far from zero drives the constant to its bound
@pytest.mark.parametrize("tol", [1e-1, 1e-7])
@pytest.mark.parametrize("data", SAMPLES)
def test_derivatives_of_the_evidence(data, tol, shift):
    X, y, _, _, _ = sample(data)
    y = y + shift
    length = 1e6 if data == "scales" else 1.0
    noise = Noise(0.1) if data == "ties" else Noise(1e-7, "fixed")  # a small one makes the covariance nearly singular
    kernel = Constant(1.0) * RBF(length_scale=length, length_scale_bounds=(1e-3, 1e8)) + noise
    model = surefit.GaussianProcessRegressor(kernel, tol=tol).fit(X, y)
    n, t, found = len(X), column(y), model.kernel_.get_params()
    names = ("left__left__value", "left__right__length_scale", "right__variance")
    at, h, slopes = [mpmath.log(number(found[name])) for name in names], mpf(10) ** -15, []
    added = numbers(np.broadcast_to(model.certificate_.model["noise_"], n))

    def log_evidence(logs):
        size, length, noise = map(mpmath.exp, logs)
        A = size * rbf(X, X, 1 / (2 * length**2)) + mpmath.diag([v + noise for v in added])
        return -(inner(t, mpmath.lu_solve(A, t)) + mpmath.log(mpmath.det(A))) / 2

    for k in range(3 if data == "ties" else 2):  # central differences, exact to 25 digits
        up, down = ([v + sign * h * (j == k) for j, v in enumerate(at)] for sign in (1, -1))
        slope = (log_evidence(up) - log_evidence(down)) / (2 * h)
        low, high = found[f"{names[k]}_bounds"]
        outward = (found[names[k]] <= low * (1 + 1e-12) and slope <= 0) or (
            found[names[k]] >= high * (1 - 1e-12) and slope >= 0
        )
        slopes.append(mpf(0) if outward else abs(slope))
    assert shift == 0 or mpf(0) in slopes
    claim = model.certificate_["gaussian_process.stationary"]
    require_upper(claim, max(slopes), claim.limit)


@pytest.mark.parametrize("problems", ["one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize("data", SAMPLES)
def test_modes_of_classifiers(data, problems):
    X, _, _, k, _ = sample(data)
    length = 1e6 if data == "scales" else 0.7
    Z = coordinates(X, 1 / (2 * number(length) ** 2))
    pairs = [(a, -1) for a in range(3)] if problems == "one_vs_rest" else [(1, 0), (2, 0), (2, 1)]
    for tol in (1e-2, 1e-12):
        model = surefit.GaussianProcessClassifier(RBF(length), optimizer=None, multi_class=problems, tol=tol).fit(X, k)
        gap = objective = mpf(0)
        for dual, (a, b) in zip(model.dual_coef_, model.certificate_.problem["pairs"], strict=True):
            assert (a, b) in pairs or (b, a) in pairs
            rows = [i for i in range(len(X)) if b < 0 or k[i] in (a, b)]
            part = mpmath.matrix([list(Z[i, :]) for i in rows])
            losses = [logistic(1 if k[i] == a else -1, mpf(1)) for i in rows]

            def value(v, part=part, losses=losses):
                z = part * v
                return inner(v, v) / 2 + sum(loss(u)[0] for loss, u in zip(losses, z, strict=True))

            best = penalized(part, lambda i, z, losses=losses: losses[i](z), [mpf(1)] * Z.cols)
            own = value(part.T * column(dual[rows]))
            gap, objective = gap + own - value(best), objective + own
        claim = model.certificate_["gaussian_process_classifier.gap"]
        require_upper(claim, gap, claim.limit)
        require_upper(claim, objective, objective * (1 + mpf(10) ** -6), "objective")
