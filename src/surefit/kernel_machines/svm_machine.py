"""Shared parts of support vector machines: parameter rules, prediction from the support vectors, fitted attributes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.budget import Reason
from surefit.core.claims import Claim
from surefit.core.estimator import warn_unless_converged
from surefit.core.issuing.state import dense
from surefit.core.sparse_coef import as_sparse
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
from surefit.problems.stated_gap import DualGapMixin
from surefit.solvers.smo.minimize import DualFit

PIECE = 1 << 21  # maximum number of kernel values stored at a time during prediction

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
NU = Rule("a number > 0 and at most 1", lambda v: POSITIVE.allows(v) and v <= 1)


class SupportMixin(DualGapMixin):
    """Mixin that computes the scores ``K(x, support) dual + b`` and, for linear kernels, the coefficients."""

    kernel: Any
    kernel_: Kernel
    support_: np.ndarray
    support_vectors_: Any
    n_jobs: Any = None
    _in_either_form = "dual_coef_"

    def _functions(self, X, coefficients: Any) -> np.ndarray:
        """Return the values of the functions, one column per row of coefficients, in blocks of rows by threads."""
        n, support = X.shape[0], self.support_
        coefficients = dense(coefficients)
        scores = np.zeros((n, len(coefficients)))

        def score(start, stop):
            scores[start:stop] = self.kernel_.combined(X[start:stop], support, self.support_vectors_, coefficients.T)

        with one_blas_thread():
            map_blocks(score, n if len(support) else 0, max(1, PIECE // max(1, len(support))), self.n_jobs)
        return scores

    def _weights(self, coefficients: Any):
        """Return the coefficients of the columns for a linear kernel, as a sparse matrix after a fit to sparse rows."""
        if not isinstance(self.kernel_, Linear):
            raise AttributeError("coef_ is only available when using a linear kernel")
        weights = np.asarray(dense(dense(coefficients) @ self.support_vectors_))
        weights.setflags(write=False)  # read-only, because predictions use the dual variables
        return as_sparse(weights) if sparse.issparse(self.support_vectors_) else weights

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True  # a precomputed kernel may be a sparse matrix
        tags.input_tags.pairwise = isinstance(self.kernel, str) and self.kernel == "precomputed"
        return tags


def support_vectors(X, kernel: Kernel, support: np.ndarray):
    """Return the support vectors; empty for a precomputed kernel."""
    if kernel.takes == "values":
        return np.empty((0, 0))
    return X[support] if X.ndim == 1 else kernel.read(X)[support]


def set_coefficients(estimator, lines: np.ndarray, intercept: np.ndarray) -> None:
    """Set ``dual_coef_``, sparse if the support vectors are, and ``intercept_``."""
    estimator.dual_coef_ = as_sparse(lines) if sparse.issparse(estimator.support_vectors_) else lines
    estimator.intercept_ = intercept


def set_one_function(estimator, sample, rows: np.ndarray, fit: DualFit) -> None:
    """Set the fitted attributes of a machine that consists of one function."""
    beta = np.zeros(sample.X.shape[0])
    beta[rows] = fit.point.beta
    estimator.support_ = np.flatnonzero(beta).astype(np.int32)
    estimator.n_support_ = np.array([len(estimator.support_)], dtype=np.int32)
    estimator.support_vectors_ = support_vectors(sample.X, sample.kernel, estimator.support_)
    set_coefficients(estimator, beta[None, estimator.support_], np.array([fit.point.b]))
    estimator.intercept_interval_ = np.array([fit.point.interval])
    estimator.kernel_, estimator.shape_fit_, estimator.fit_status_ = sample.kernel, sample.X.shape, 0
    estimator.n_iter_ = fit.n_iter
    estimator.rkhs_norm_ = float(np.sqrt(max(float(fit.point.beta @ fit.point.scores), 0.0)))


def record(estimator, prefix: str, sample, fits: list[DualFit], chosen: tuple[str, ...], more: list[Claim]) -> None:
    """Set the fitted attributes, issue the certificate, and warn if a problem stopped early."""
    estimator.objective_ = float(sum(fit.point.primal for fit in fits))
    estimator.history_ = np.array([line for fit in fits for line in fit.history], dtype=np.float64).reshape(-1, 3)
    known = sample.kernel.positive_semidefinite is not False
    late = [fit for fit in fits if fit.reason is not Reason.CONVERGED]
    reason = late[0].reason if late else Reason.CONVERGED
    estimator._issue(
        "A" if known else "B",
        [Claim(f"{prefix}.{name}") for name in (("gap", "distance") if known else ("stationarity",))] + more,
        problem=chosen,
        model=("support_", "dual_coef_", "intercept_", *chosen),
        sample=(sample.X, sample.y, sample.sample_weight),
        run={
            "solver": "; then ".join(dict.fromkeys(route for fit in fits for route in fit.routes)),
            "reason": str(reason),
            "passes": int(sum(fit.n_iter for fit in fits)),
            "seconds": float(fits[-1].history[-1][0]),
        },
    )
    gap, limit = (
        float(sum(part)) for part in zip(*[(f.point.gap, estimator.tol * f.point.primal) for f in fits], strict=True)
    )
    warn_unless_converged(type(estimator).__name__, reason, gap, limit if math.isfinite(limit) else 0.0)
