"""Starting parameters of ``GaussianMixture``: given, from an earlier fit, or drawn at random."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from surefit.core.budget import Budget
from surefit.core.errors import InvalidParameter
from surefit.core.partitioned import Part, PartitionedRows, by_blocks, row_draws, weights_in
from surefit.solvers.clustering.assignments import InMemory
from surefit.solvers.clustering.lloyd import move_centers
from surefit.solvers.clustering.nearest import nearest
from surefit.solvers.clustering.partitions import Frame, InPartitions
from surefit.solvers.clustering.points import Summary, read_points
from surefit.solvers.clustering.seeding import canonical_groups, distinct_points, k_means_plus_plus
from surefit.solvers.mixture.covariances import from_covariances, from_precisions
from surefit.solvers.mixture.em import Parameters, Rows, numbers_in


def last_parameters(estimator) -> Parameters:
    """Return the parameters of the previous fit."""
    kind = estimator.covariance_type
    shape = from_covariances(kind, estimator.covariances_)
    return Parameters(estimator.weights_, estimator.means_, estimator.covariances_, shape)


def starting_parameters(estimator, rows: Rows, random) -> Parameters:
    """Return the starting parameters; those that are not given are drawn according to ``init_params``."""
    kind, k, d = estimator.covariance_type, estimator.n_components, len(rows.shift)
    weights = _given(estimator, "weights_init", (k,))
    means = _given(estimator, "means_init", (k, d))
    precisions = _given(
        estimator, "precisions_init", {"full": (k, d, d), "tied": (d, d), "diag": (k, d), "spherical": (k,)}[kind]
    )
    if weights is not None and not (np.all(weights >= 0) and np.isclose(weights.sum(), 1.0)):
        raise InvalidParameter(type(estimator).__name__, "weights_init", "numbers >= 0 that sum to 1", weights)
    drawn: Any = None
    if weights is None or means is None or precisions is None:
        drawn = _drawn_start(estimator, rows, random)
    if precisions is None:
        covariances, shape = drawn.covariances, drawn.shape
    else:
        shape = _shape_of_given(estimator, kind, precisions)
        covariances = np.linalg.inv(precisions) if kind in ("full", "tied") else 1.0 / precisions
    return Parameters(
        drawn.weights if weights is None else weights / weights.sum(),
        drawn.means if means is None else means,
        covariances,
        shape,
    )


def _given(estimator, name: str, shape: tuple[int, ...]) -> np.ndarray | None:
    value = getattr(estimator, name)
    if value is None:
        return None
    array = check_array(value, dtype=np.float64, ensure_2d=False, allow_nd=True, input_name=name)
    if array.shape != shape:
        raise InvalidParameter(type(estimator).__name__, name, f"an array of shape {shape}", f"shape {array.shape}")
    return array


def _shape_of_given(estimator, kind: str, precisions: np.ndarray) -> Any:
    matrices = precisions if kind == "full" else precisions[None] if kind == "tied" else None
    try:
        symmetric = matrices is None or np.allclose(matrices, np.swapaxes(matrices, 1, 2))
        if symmetric and (matrices is not None or np.all(precisions > 0)):
            return from_precisions(kind, precisions)
    except np.linalg.LinAlgError:
        pass
    raise InvalidParameter(
        type(estimator).__name__,
        "precisions_init",
        "symmetric and positive definite",
        f"an array of shape {precisions.shape}",
    )


def _drawn_start(estimator, rows: Rows, random) -> Parameters:
    kind, floor, k = estimator.covariance_type, float(estimator.reg_covar), estimator.n_components
    d, how = len(rows.shift), estimator.init_params
    draw = _drawn_by_passes if isinstance(rows.X, PartitionedRows) else _drawn_in_memory
    seeds, shares = draw(rows, k, how, random)
    if shares is not None:
        return _from_responsibilities(rows, shares, kind, floor)
    variance = floor if floor > 0 else 1e-6
    covariances = {
        "full": np.broadcast_to(variance * np.eye(d), (k, d, d)).copy(),
        "tied": variance * np.eye(d),
        "diag": np.full((k, d), variance),
        "spherical": np.full(k, variance),
    }[kind]
    return Parameters(np.full(k, 1.0 / k), seeds, covariances, from_covariances(kind, covariances))


def _drawn_in_memory(rows: Rows, k: int, how: str, random) -> tuple[Any, Any]:
    """Return starting means, or responsibilities."""
    if how == "random":
        groups = canonical_groups(rows.X, rows.weights)
        draws = random.random((groups.max() + 1, k))
        return None, Table((draws / draws.sum(axis=1, keepdims=True))[groups])
    if how == "kmeans" and k == 1:  # all rows belong to the cluster
        return None, Labels(np.zeros(len(rows.weights), dtype=np.int32), k)
    points, summary = read_points(rows.X, rows.weights, rows.n_jobs)
    if how == "random_from_data":
        return distinct_points(points, rows.weights, k, random), None
    seeds = k_means_plus_plus(points, rows.weights, k, random, rows.n_jobs)
    if how == "k-means++":
        return seeds, None
    members = InMemory(points, rows.weights, k, rows.n_jobs)
    move_centers(members, summary, seeds, **_as_k_means(summary))
    return None, Labels(members.labels, k)


def _drawn_by_passes(rows: Rows, k: int, how: str, random) -> tuple[Any, Any]:
    """Return starting means, or a rule by which each partition computes its responsibilities."""
    if how == "random":
        return None, RowDraws(int(random.random() * 2**53), k)
    points = InPartitions(rows.X)
    if how == "random_from_data":
        return points.distinct_points(k, random), None
    seeds = points.k_means_parallel(k, random)
    if how == "k-means++":
        return seeds, None
    found = move_centers(points, points.summary, seeds, **_as_k_means(points.summary))
    return None, NearestCenters(points.frame, found.centers)


def _as_k_means(summary: Summary) -> dict[str, Any]:
    tolerance = 1e-4 * summary.scatter / (summary.total_weight * len(summary.mean))
    return {"tolerance": tolerance, "budget": Budget(300)}


class Table(NamedTuple):
    """Responsibilities of rows in memory."""

    values: np.ndarray

    def of(self, part: Part) -> np.ndarray:
        """Return the responsibilities of the rows of a part, one row each."""
        return self.values[part.start : part.start + len(part.X)]


class Labels(NamedTuple):
    """Responsibilities that assign each row in memory to one component."""

    values: np.ndarray
    k: int

    def of(self, part: Part) -> np.ndarray:
        """Return the responsibilities of the rows of a part, one row each."""
        return np.eye(self.k)[self.values[part.start : part.start + len(part.X)]]


class NearestCenters(NamedTuple):
    """Responsibilities that assign each row to its nearest center."""

    frame: Frame
    centers: np.ndarray

    def of(self, part: Part) -> np.ndarray:
        """Return the responsibilities of the rows of a part, one row each."""
        return np.eye(len(self.centers))[nearest(self.frame.points(part), len(part.X), self.centers)]


class RowDraws(NamedTuple):
    """Random responsibilities determined by the index of the row."""

    seed: int
    k: int

    def of(self, part: Part) -> np.ndarray:
        """Return the responsibilities of the rows of a part, one row each."""
        draws = row_draws(part.start, len(part.X), self.seed, self.k)
        return draws / draws.sum(axis=1, keepdims=True)


@by_blocks
def _first_moments(part: Part, shares: Any, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    table = shares.of(part) * weights_in(part)[:, None]
    return table.sum(axis=0), table.T @ (numbers_in(part) - shift)


@by_blocks
def _second_moments(part: Part, shares: Any, means: np.ndarray, full: bool) -> np.ndarray:
    """Return the sums of squares and products about the means."""
    table, X = shares.of(part) * weights_in(part)[:, None], numbers_in(part)
    matrices = []
    for c, mean in enumerate(means):
        used = np.flatnonzero(table[:, c])
        about = X[used] - mean
        weighted = table[used, c, None] * about
        matrices.append(weighted.T @ about if full else np.sum(weighted * about, axis=0))
    return np.array(matrices)


def _from_responsibilities(rows: Rows, shares: Any, kind: str, floor: float) -> Parameters:
    """Return the parameters for given responsibilities."""
    full = kind in ("full", "tied")
    masses, first = rows.over(_first_moments, shares, rows.shift)
    masses = masses + 10 * np.finfo(float).eps
    means = first / masses[:, None] + rows.shift
    covariances = rows.over(_second_moments, shares, means, full)
    if kind == "tied":
        covariances = covariances.sum(axis=0) / masses.sum()
    else:
        covariances /= masses.reshape(-1, *([1] * (covariances.ndim - 1)))
    covariances = covariances + (floor * np.eye(means.shape[1]) if full else floor)
    covariances = covariances.mean(axis=1) if kind == "spherical" else covariances
    return Parameters(masses / masses.sum(), means, covariances, from_covariances(kind, covariances))
