"""What a certificate of Gaussian-process regression says."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.gaussian_process import evidence_error, floor_of, residual
from surefit.core.claims import Claim
from surefit.kernels import Kernel
from surefit.solvers.gaussian_process import Evidence, Problem
from surefit.solvers.gaussian_process_search import free_directions

SAFE = 1.01  # the checker may add in another order


def claims_of(
    kernel: Kernel, problem: Problem, dual: np.ndarray, log_evidence: float, y_scale: np.ndarray
) -> list[Claim]:
    """Claims given the hyper-parameters: the posterior mean everywhere, and the evidence."""
    n, floor = len(dual), floor_of(kernel, problem.noise)
    found = residual(kernel, problem.X, problem.noise, dual, problem.targets)
    if floor <= 0:
        words = (
            "The kernel is not known to be positive semidefinite, or there is no noise: no bound on the posterior mean."
        )
        return [Claim("gaussian_process.mean", "no_claim", words), _estimate(log_evidence)]
    bound = SAFE * float(np.max(found.norms * np.atleast_1d(y_scale))) / math.sqrt(floor)
    words = f"For every x the posterior mean is within {bound:.2g} sqrt(k(x, x)) of the exact one, rounding of the fit included."
    mean = Claim("gaussian_process.mean", "optimality", words, value=bound, numbers={"floor": floor}, level="computed")
    backward = 4 * gamma(n + 4) * found.trace  # the factor of a backward stable algorithm, and its verification
    logs = abs(math.log(floor)) + abs(
        math.log(max(found.trace, floor))
    )  # at least as large as those of the factor's diagonal
    size = float(np.sum(np.abs(problem.targets * dual))) + dual.shape[1] * n * (1 + logs) + abs(log_evidence)
    error = SAFE * evidence_error(found, floor, dual, backward) + 8 * gamma(n + 8) * size
    if not math.isfinite(error):
        return [mean, _estimate(log_evidence)]
    words = f"The log evidence is {log_evidence:.8g}, up to {error:.2g}."
    numbers = {"log_evidence": log_evidence, "trace": found.trace}
    return [mean, Claim("gaussian_process.evidence", "optimality", words, value=error, numbers=numbers)]


def _estimate(log_evidence: float) -> Claim:
    words = f"The log evidence is about {log_evidence:.8g}; there is too little noise to bound its error."
    return Claim("gaussian_process.evidence", "estimate", words, value=log_evidence)


def search_claims(kernel: Kernel, problem: Problem, at: Evidence, tol: float) -> list[Claim]:
    """Claims about the hyper-parameters: stationary, and nothing about the highest of all maxima."""
    free = free_directions(kernel.theta, at.slopes, kernel.bounds)
    condition = float(np.mean(kernel.diag(problem.X) + problem.noise)) / max(floor_of(kernel, problem.noise), 1e-300)
    margin = float(np.max(at.sizes, initial=0.0)) * (1e-9 + 64 * UNIT * len(problem.noise) * condition)
    slope = float(np.max(np.abs(at.slopes[free]), initial=0.0)) + min(margin, float(np.max(at.sizes, initial=0.0)))
    words = f"No free hyper-parameter has a slope of the log evidence above {slope:.2g} (by its logarithm)."
    return [
        Claim("gaussian_process.stationary", "optimality", words, value=slope, limit=tol + margin),
        Claim(
            "gaussian_process.global", "no_claim", "The evidence may have higher maxima elsewhere; nothing is claimed."
        ),
    ]
