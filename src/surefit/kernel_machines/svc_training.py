"""Fitting of support vector classifiers: build and solve two-class problems, and join their solutions."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData
from surefit.core.issuing.state import dense
from surefit.core.threads import count_threads, map_blocks, one_blas_thread
from surefit.kernel_machines.svm_inputs import Labels, Sample
from surefit.kernel_machines.svm_machine import set_coefficients, support_vectors
from surefit.solvers.smo.minimize import DualFit, minimize
from surefit.solvers.smo.problem import classification, row_gaps
from surefit.solvers.smo.rows import solver_rows

KINDS = np.array(["outside", "on margin", "inside", "misclassified"])
ON_MARGIN = 1e-8  # rows within this distance of the margin are on it
LARGEST = 1e30  # bound on kernel values, whose sums must fit into float32


class TwoClasses(NamedTuple):
    """Two-class problem: its two classes, its rows, their signs, and C times their weights."""

    positive: int
    negative: int  # -1 means all other classes
    rows: np.ndarray
    signs: np.ndarray
    costs: np.ndarray


def two_class_problems(labels: Labels, C: float, strategy: str) -> list[TwoClasses]:
    """Return the problems of a strategy; with two classes, one problem whose positive score means the second class."""
    K, codes = len(labels.classes), labels.codes
    counted = labels.weights > 0
    with np.errstate(invalid="ignore"):
        costs = C * labels.weights
    if K == 2:
        pairs = [(1, 0)]
    elif strategy == "ovo":
        pairs = [(i, j) for i in range(K) for j in range(i + 1, K)]
    else:
        pairs = [(i, -1) for i in range(K)]
    problems = []
    for i, j in pairs:
        rows = np.flatnonzero(counted & ((codes == i) | (codes == j) if j >= 0 else True))
        problems.append(TwoClasses(i, j, rows, np.where(codes[rows] == i, 1.0, -1.0), costs[rows]))
    return problems


def fit_problems(estimator, sample: Sample, problems: list[TwoClasses], starts) -> list[DualFit]:
    """Solve the problems, concurrently if memory allows; they share kernel, budget and tolerance."""
    reporter = progress_reporter(estimator, sample.X, sample.y)
    limit = None if estimator.max_iter == -1 else estimator.max_iter
    threads = min(count_threads(estimator.n_jobs), len(problems))
    largest = max(len(problem.rows) for problem in problems)
    together = threads > 1 and 4 * largest**2 * threads <= float(estimator.cache_size) * 2**20
    with Budget(limit, estimator.max_time, reporter) as budget, one_blas_thread():
        gram, rows32 = solver_rows(sample.kernel, sample.X)
        require_finite(type(estimator).__name__, gram)

        def solve(p: int, _) -> DualFit:
            problem = problems[p]
            whole = len(problem.rows) == gram.n
            return minimize(
                gram if whole else gram.take(problem.rows),
                rows32 if whole else rows32.take(problem.rows),
                classification(problem.signs, problem.costs, bool(estimator.fit_intercept)),
                tol=estimator.tol,
                budget=budget,
                megabytes=float(estimator.cache_size),
                beta=None if starts is None else starts[p],
                shrinking=bool(estimator.shrinking),
                n_jobs=1 if together else estimator.n_jobs,
            )

        fits = map_blocks(solve, len(problems), 1, estimator.n_jobs if together else 1)
    if reporter is not None:
        reporter.finish()
    return fits


def require_finite(who: str, gram) -> None:
    """Raise if the diagonal kernel values are too large for sums in float32."""
    fits = np.abs(gram.diagonal) < LARGEST
    if not np.all(fits):
        row = int(np.argmin(fits))
        raise InvalidData(
            f"{who}: kernel values must be finite and below {LARGEST:.0e}; k(x, x) of row {row} is {gram.diagonal[row]:.3g}. "
            "Scale the features, or choose a smaller gamma or degree."
        )


class Model(NamedTuple):
    """Support, coefficients and intercepts in scikit-learn's layout."""

    support: np.ndarray
    n_support: np.ndarray
    dual_coef: np.ndarray
    intercept: np.ndarray


def assemble(n: int, labels: Labels, problems: list[TwoClasses], fits: list[DualFit], strategy: str) -> Model:
    """Join the dual vectors in scikit-learn's layout: support vectors sorted by class, one-versus-one as in LIBSVM."""
    K = len(labels.classes)
    betas = np.zeros((len(problems), n))
    for p, (problem, fit) in enumerate(zip(problems, fits, strict=True)):
        betas[p, problem.rows] = fit.point.scale * fit.point.beta
    used = np.flatnonzero(np.any(betas != 0.0, axis=0))
    support = used[np.argsort(labels.codes[used], kind="stable")]
    intercept = np.array([fit.point.scale * fit.point.b for fit in fits])
    n_support = np.bincount(labels.codes[support], minlength=K)
    if K == 2 or strategy == "ovr":
        return Model(support, n_support, betas[:, support], intercept)
    dual = np.zeros((K - 1, len(support)))
    codes = labels.codes[support]
    for problem, beta in zip(problems, betas, strict=True):
        i, j = problem.positive, problem.negative
        dual[j - 1, codes == i] = beta[support[codes == i]]
        dual[i, codes == j] = beta[support[codes == j]]
    return Model(support, n_support, dual, intercept)


def set_model(estimator, sample: Sample, labels: Labels, problems: list[TwoClasses], fits: list[DualFit]) -> None:
    """Set the fitted attributes in scikit-learn's layout, and the intercept intervals, norms and margins."""
    n = sample.X.shape[0]
    model = assemble(n, labels, problems, fits, estimator.multi_class)
    estimator.classes_, estimator.class_weight_ = labels.classes, labels.class_weights
    estimator.kernel_, estimator.shape_fit_, estimator.fit_status_ = sample.kernel, sample.X.shape, 0
    estimator.support_, estimator.n_support_ = model.support.astype(np.int32), model.n_support.astype(np.int32)
    estimator.support_vectors_ = support_vectors(sample.X, sample.kernel, model.support)
    set_coefficients(estimator, model.dual_coef, model.intercept)
    estimator._support_codes = labels.codes[model.support]
    estimator._duals = [(problem.rows, fit.point.beta) for problem, fit in zip(problems, fits, strict=True)]
    estimator.n_iter_ = np.array([fit.n_iter for fit in fits], dtype=np.int32)
    scales = np.array([fit.point.scale for fit in fits])
    estimator.intercept_interval_ = scales[:, None] * np.array([fit.point.interval for fit in fits])
    estimator.rkhs_norm_ = scales * np.sqrt([max(float(fit.point.beta @ fit.point.scores), 0.0) for fit in fits])
    with np.errstate(divide="ignore"):
        estimator.margin_ = 1.0 / estimator.rkhs_norm_
    estimator.margin_width_ = 2.0 * estimator.margin_


def set_points(estimator, n: int, problems: list[TwoClasses], fits: list[DualFit]) -> None:
    """Set ``slack_``, ``sample_gap_``, ``points_`` and the lists of support rows, for each problem."""
    slack, gaps = np.full((len(fits), n), np.nan), np.zeros((len(fits), n))
    points = np.full((len(fits), n), "", dtype=KINDS.dtype)
    free, bound, edge = [], [], []
    for p, (problem, fit) in enumerate(zip(problems, fits, strict=True)):
        rows, point = problem.rows, fit.point
        margins = problem.signs * point.scale * (point.scores + point.b)
        alphas = np.abs(point.scale * point.beta)
        inner = (alphas > 0) & (alphas < problem.costs)
        off = np.abs(margins - 1)
        near = max(ON_MARGIN, float(np.max(off[inner], initial=0.0)))
        slack[p, rows] = np.maximum(1 - margins, 0.0)
        kinds = np.where(off <= near, 1, np.where(margins > 1, 0, np.where(margins >= 0, 2, 3)))
        points[p, rows] = KINDS[kinds]
        if np.isfinite(problem.costs).all():
            low, high = (
                np.where(problem.signs > 0, 0.0, -problem.costs),
                np.where(problem.signs > 0, problem.costs, 0.0),
            )
            gaps[p, rows] = row_gaps(problem.signs - point.scores, point.beta, low, high, 0.0, point.b)
        free.append(rows[inner])
        bound.append(rows[alphas >= problem.costs])
        edge.append(rows[off <= near])
    one = len(fits) == 1
    estimator.slack_ = slack[0] if one else slack
    estimator.sample_gap_ = gaps[0] if one else gaps
    estimator.points_ = points[0] if one else points
    estimator.free_support_ = free[0] if one else free
    estimator.bound_support_ = bound[0] if one else bound
    estimator.on_margin_ = edge[0] if one else edge


def problem_coefficients(model, n_classes: int, codes: np.ndarray, strategy: str) -> np.ndarray:
    """Return one row of coefficients per problem from ``dual_coef_``; ``codes`` index the classes of the support."""
    dual = dense(model.dual_coef_)
    if n_classes == 2 or strategy == "ovr":
        return dual
    lines = []
    for i in range(n_classes):
        for j in range(i + 1, n_classes):
            lines.append(np.where(codes == i, dual[j - 1], np.where(codes == j, dual[i], 0.0)))
    return np.array(lines)
