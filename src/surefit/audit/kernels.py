"""Reads kernel ridge regression and regression by Gaussian processes of scikit-learn."""

from __future__ import annotations

import math

import numpy as np

from surefit.audit.free_bounds import free_of_kernel_ridge, free_of_process
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.squares import spread_of
from surefit.audit.stating import claim, proved
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.kernels import resolve
from surefit.kernels.foreign import from_scikit_learn


@reader("sklearn", "KernelRidge")
def read_kernel_ridge(model, data: Data, tol: float) -> Reading:
    """Sum of squares plus ``alpha |f|^2`` in the norm of the kernel's space; there is no offset."""
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
        "objective": "sum_i s_i (y_i - f(x_i))^2 + alpha |f|^2; no offset",
    }

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        gap, reach = (proved(draft, rows, f"kernel_ridge.{name}") for name in ("gap", "distance"))
        limit = tol * spread_of(rows, centred=False)
        return [
            claim("kernel_ridge.gap", "optimality", f"The objective is within {gap.proved:.3g} of the smallest possible one.",
                  gap.proved, limit=limit, level=gap.level),
            claim("kernel_ridge.distance", "optimality",
                  f"The function is within {reach.proved:.3g} of the optimal one, in the norm of the kernel's space.", reach.proved),
        ]  # fmt: skip

    return Reading("A", problem, (), state, derived="kernel ridge", free=free_of_kernel_ridge)


@reader("sklearn", "GaussianProcessRegressor")
def read_gaussian_process_regressor(model, data: Data, tol: float) -> Reading:
    """Posterior mean and evidence at the hyper-parameters that the model has; nothing about better ones."""
    attribute(model, "alpha_")
    kernel = from_scikit_learn(model.kernel_)
    if kernel is None:
        raise InvalidData(
            f"certify: the kernel {model.kernel_} of this GaussianProcessRegressor has no translation here."
        )
    target_of(model, data)
    problem = {
        "kernel": kernel.to_record(),
        "objective": "y = f + noise, f ~ GP(0, kernel), noise variance alpha a row; targets standardised if normalize_y",
    }
    reported = float(model.log_marginal_likelihood_value_)

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        found = proved(draft, rows, "gaussian_process.mean")
        nothing = Claim(
            "gaussian_process.global", "no_claim", "The evidence may have higher maxima elsewhere; nothing is claimed."
        )
        if not math.isfinite(found.proved):
            words = "The kernel is not known to be positive semidefinite, or there is no noise: no bound on the posterior mean."
            return [Claim("gaussian_process.mean", "no_claim", words), nothing]
        words = f"For every x the posterior mean is within {found.proved:.2g} sqrt(k(x, x)) of the exact one."
        claims = [claim("gaussian_process.mean", "optimality", words, 1.01 * found.proved)]
        evidence = proved(draft, rows, "gaussian_process.evidence", {"log_evidence": reported})
        if math.isfinite(evidence.proved):
            words = f"The log evidence is {reported:.8g}, up to {evidence.proved:.2g}."
            numbers = {"log_evidence": reported}
            claims.append(
                claim("gaussian_process.evidence", "optimality", words, 1.01 * evidence.proved, numbers=numbers)
            )
        return [*claims, nothing]

    return Reading("B", problem, (), state, derived="gaussian process", free=free_of_process)
