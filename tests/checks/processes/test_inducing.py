"""Bounds on the evidence by inducing rows, against the log evidence in sixty digits."""

import mpmath as mp
import numpy as np
import pytest

from surefit import SparseGaussianProcessRegressor
from surefit.kernels import RBF, Constant, Noise, Product, Scaled, Sum


def value(kernel, a, b, same):
    """The kernel at two numbers, in multiple precision."""
    if isinstance(kernel, (Sum, Product)):
        left, right = value(kernel.left, a, b, same), value(kernel.right, a, b, same)
        return left + right if isinstance(kernel, Sum) else left * right
    if isinstance(kernel, Scaled):
        return mp.mpf(float(kernel.factor)) * value(kernel.kernel, a, b, same)
    if isinstance(kernel, Constant):
        return mp.mpf(float(kernel.value))
    if isinstance(kernel, Noise):
        return mp.mpf(float(kernel.variance)) if same else mp.mpf(0)
    assert isinstance(kernel, RBF)
    length = mp.mpf(float(np.ravel(kernel.lengths)[0]))
    return mp.exp(-(((mp.mpf(float(a)) - mp.mpf(float(b))) / length) ** 2) / 2)


def exact_log_evidence(kernel, x, y, noise):
    n = len(x)
    A = mp.matrix(n, n)
    for i in range(n):
        for j in range(n):
            A[i, j] = value(kernel, x[i], x[j], i == j) + (mp.mpf(float(noise)) if i == j else 0)
    L, rest = mp.cholesky(A), [mp.mpf(float(v)) for v in y]
    for i in range(n):  # solve L r = y
        rest[i] = (rest[i] - mp.fsum(L[i, j] * rest[j] for j in range(i))) / L[i, i]
    logs = mp.fsum(mp.log(L[i, i]) for i in range(n))
    return -mp.fsum(v * v for v in rest) / 2 - logs - mp.mpf(n) / 2 * mp.log(2 * mp.pi)


@pytest.mark.parametrize("length", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("inducing", [4, 12])
def test_the_exact_evidence_lies_between_the_bounds(length, inducing):
    rng = np.random.default_rng(int(10 * length) + inducing)
    X = np.sort(rng.uniform(0, 6, size=(30, 1)), axis=0)
    y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(30)
    kernel = 2.0 * RBF(length_scale=length) + Noise(0.01)
    model = SparseGaussianProcessRegressor(kernel=kernel, n_inducing=inducing, optimizer=None).fit(X, y)
    claim, noise = model.certificate_["gaussian_process.variational_gap"], float(model.certificate_.problem["noise"])
    y = (y - model.y_mean_) / model.y_scale_
    with mp.workdps(60):
        exact = exact_log_evidence(model.kernel_, X[:, 0], y, noise)
        assert mp.mpf(claim.numbers["lower"]) <= exact <= mp.mpf(claim.numbers["upper"])
    assert claim.numbers["upper"] - claim.numbers["lower"] <= claim.value + 1e-12
    if (
        inducing == 12 and length == 5.0
    ):  # the directions explain everything: what is left is the rounding that is allowed for
        assert claim.value < 1e-5
