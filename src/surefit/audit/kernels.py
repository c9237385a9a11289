"""Readers for scikit-learn's kernel ridge regression and Gaussian process regression."""

from __future__ import annotations

import numpy as np

from surefit.audit.free_bounds import free_of_kernel_ridge, free_of_process
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data
from surefit.kernels import resolve
from surefit.kernels.external import from_scikit_learn


@reader("sklearn", "KernelRidge")
def read_kernel_ridge(model, data: Data, tol: float) -> Reading:
    """Read kernel ridge regression: sum of squares plus ``alpha |f|^2`` in the RKHS norm, without intercept."""
    attribute(model, "dual_coef_")
    if callable(model.kernel) and from_scikit_learn(model.kernel) is None:
        raise refuse(model, "kernel", "a name or a kernel object (a function cannot be written into a certificate)")
    width = 1.0 / data.X.shape[1] if model.gamma is None else float(model.gamma)
    kernel = resolve(model.kernel, gamma=width, degree=model.degree, coef0=model.coef0, who="certify")
    if kernel.positive_semidefinite is False:
        raise refuse(model, "kernel", "positive semidefinite (there is no optimum otherwise)")
    y = np.asarray(target_of(model, data), dtype=np.float64)
    targets = y.reshape(len(y), -1).shape[1]
    alphas = np.broadcast_to(np.asarray(model.alpha, dtype=np.float64), targets)
    if not np.all(alphas > 0):
        raise refuse(model, "alpha", "positive")
    problem = {
        "alphas": [float(alpha) for alpha in alphas],
        "kernel": kernel.to_record(),
        "fit_intercept": False,
        "objective": "sum_i s_i (y_i - f(x_i))^2 + alpha |f|^2; no intercept",
    }

    state = asking("kernel_ridge.gap", "kernel_ridge.distance")
    return Reading("A", problem, (), state, derived="kernel ridge", free=free_of_kernel_ridge)


@reader("sklearn", "GaussianProcessRegressor")
def read_gaussian_process_regressor(model, data: Data, tol: float) -> Reading:
    """Read Gaussian process regression: posterior mean and evidence at the model's hyperparameters only."""
    attribute(model, "alpha_")
    kernel = from_scikit_learn(model.kernel_)
    if kernel is None:
        raise InvalidData(f"certify: the kernel {model.kernel_} of this GaussianProcessRegressor is not supported.")
    target_of(model, data)
    problem = {
        "kernel": kernel.to_record(),
        "objective": "y = f + noise, f ~ GP(0, kernel), noise variance alpha per row; targets standardized if normalize_y",
    }
    state = asking(*(f"gaussian_process.{name}" for name in ("mean", "evidence", "global")))
    return Reading("B", problem, (), state, derived="gaussian process", free=free_of_process)
