"""What support vector machines share: rules, prediction from the support, and the numbers of a fit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.budget import Reason
from surefit.core.claims import Claim
from surefit.core.estimator import data_fingerprint, warn_unless_converged
from surefit.core.threads import map_blocks, one_blas_thread
from surefit.core.validation import (
    ANYTHING,
    BOOLEAN,
    COUNT,
    N_JOBS,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    REAL,
    Rule,
    one_of,
)
from surefit.kernels import Kernel, Linear
from surefit.solvers.smo.minimise import DualFit

PIECE = 1 << 21  # kernel values that prediction holds at a time

RULES: dict[str, Rule] = {
    "kernel": Rule(
        "the name of a kernel, a kernel of surefit.kernels, or a function of two samples",
        lambda v: isinstance(v, (str, Kernel)) or callable(v),
    ),
    "degree": COUNT,
    "gamma": one_of("scale", "auto") | POSITIVE,
    "coef0": REAL,
    "shrinking": BOOLEAN,
    "tol": NON_NEGATIVE,
    "cache_size": POSITIVE,
    "verbose": ANYTHING,
    "max_iter": one_of(-1) | COUNT,
    "max_time": NOTHING | POSITIVE,
    "fit_intercept": BOOLEAN,
    "warm_start": BOOLEAN,
    "n_jobs": N_JOBS,
}


class SupportMixin:
    """Adds the scores ``K(x, support) dual + b``, weights of a linear kernel, and tags."""

    kernel: Any
    kernel_: Kernel
    support_: np.ndarray
    support_vectors_: Any
    n_jobs: Any = None

    def _functions(self, X, coefficients: np.ndarray) -> np.ndarray:
        """Values of the functions with these coefficients, one column a line; in blocks of rows, one a thread."""
        n, support = X.shape[0], self.support_
        scores = np.zeros((n, len(coefficients)))

        def score(start, stop):
            values = self.kernel_.against(X[start:stop], support, self.support_vectors_)
            scores[start:stop] = values @ coefficients.T

        with one_blas_thread():
            map_blocks(score, n if len(support) else 0, max(1, PIECE // max(1, len(support))), self.n_jobs)
        return scores

    def _weights(self, coefficients: np.ndarray):
        """Weights of the columns: defined for the linear kernel."""
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = coefficients @ self.support_vectors_
        return weights.toarray() if sparse.issparse(weights) else np.asarray(weights)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = self.kernel != "precomputed" if isinstance(self.kernel, str) else True
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def support_vectors(X, kernel: Kernel, support: np.ndarray):
    """Rows of the support; none for a precomputed kernel, whose rows are no vectors."""
    if kernel.takes == "values":
        return np.empty((0, 0))
    return X[support] if X.ndim == 1 else kernel.read(X)[support]


def record(estimator, prefix: str, sample, fits: list[DualFit], problem: dict, more: list[Claim]) -> None:
    """Set the numbers of the fit, issue the certificate, and warn if a problem stopped early."""
    gaps = [fit.point.gap for fit in fits]
    estimator.dual_gap_ = float(sum(gaps))
    estimator.objective_ = float(sum(fit.point.primal for fit in fits))
    estimator.history_ = np.array([line for fit in fits for line in fit.history], dtype=np.float64).reshape(-1, 3)
    limit = float(sum(estimator.tol * fit.point.primal for fit in fits))
    limit = limit if math.isfinite(limit) else 0.0  # no feasible point of a hard margin yet: nothing is met
    is_kernel = sample.kernel.positive_semidefinite
    claims = []
    if is_kernel is False:
        words = f"The conditions of optimality are violated by {estimator.dual_gap_:.3g}; the kernel is none, no optimum is claimed."
        claims.append(Claim(f"{prefix}.stationarity", "process_fact", words, value=estimator.dual_gap_, limit=limit))
    else:
        assumptions = () if is_kernel else ("kernel_positive_semidefinite",)
        words = f"The objective is within {estimator.dual_gap_:.3g} of the smallest possible one."
        numbers = {"objective": estimator.objective_, "relative": _share(estimator.dual_gap_, estimator.objective_)}
        reach = math.sqrt(2 * max(max(gaps), 0.0))
        claims.append(
            Claim(f"{prefix}.gap", "optimality", words, value=estimator.dual_gap_, limit=limit, numbers=numbers,
                  assumptions=assumptions)
        )  # fmt: skip
        sentence = f"The function is within {reach:.3g} of the optimal one, in the norm of the kernel's space."
        claims.append(Claim(f"{prefix}.distance", "optimality", sentence, value=reach, assumptions=assumptions))
    late = [fit for fit in fits if fit.reason is not Reason.CONVERGED]
    reason = late[0].reason if late else Reason.CONVERGED
    estimator._issue(
        "B" if is_kernel is False else "A",
        claims + more,
        problem={
            "C": float(estimator.C),
            **problem,
            "kernel": sample.kernel.to_record(),
            "fit_intercept": bool(estimator.fit_intercept),
        },
        model=("support_", "dual_coef_", "intercept_"),
        data=data_fingerprint(sample.X, sample.y, sample.sample_weight),
        run={
            "solver": "; then ".join(dict.fromkeys(route for fit in fits for route in fit.routes)),
            "reason": str(reason),
            "passes": int(sum(fit.n_iter for fit in fits)),
            "seconds": float(fits[-1].history[-1][0]),
        },
    )
    warn_unless_converged(type(estimator).__name__, reason, estimator.dual_gap_, limit)


def _share(part: float, whole: float) -> float:
    return part / whole if whole > 0 else 0.0
