"""Fitting of ``PCA``: axes, fitted attributes and the certificate."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import Part, PartitionedRows, over_rows
from surefit.decomposition.latent_dimension import components_for_share, minka_dimension
from surefit.problems import pose
from surefit.solvers.principal_axes import (
    Axes,
    Centered,
    all_axes,
    center,
    lanczos_axes,
    randomized_axes,
)

LARGEST = 1e150  # sums of squares of larger entries overflow


def fit_pca(estimator, X) -> Any:
    """Set the fitted attributes and the certificate of ``estimator``. Returns it."""
    n, d = X.shape
    problem = pose(estimator, X)
    method = "covariance_eigh" if isinstance(X, PartitionedRows) else problem["svd_solver"]
    _require_sparse_solver(type(estimator).__name__, X, method)
    wanted = _wanted(estimator, n, d, method)
    rows = center(X)
    _require_finite_squares(type(estimator).__name__, X, rows)
    random = generator(estimator.random_state)
    axes = _axes(estimator, rows, method, wanted, random)
    ratios = axes.variances / axes.total_variance if axes.total_variance > 0 else np.zeros(len(axes.variances))
    if wanted == "mle":
        wanted = minka_dimension(axes.variances, n)
    elif 0 < wanted < 1:
        wanted = min(components_for_share(ratios, wanted), len(ratios))
    q = int(wanted)
    kind = X.dtype
    estimator.mean_ = rows.mean.astype(kind)
    estimator.components_ = np.ascontiguousarray(axes.components[:q], dtype=kind)
    estimator.explained_variance_ = axes.variances[:q].astype(kind)
    estimator.explained_variance_ratio_ = ratios[:q].astype(kind)
    estimator.singular_values_ = np.sqrt(axes.variances[:q] * (n - 1)).astype(kind)
    estimator.noise_variance_ = kind.type(_noise(axes, q, min(n, d)))
    given = isinstance(estimator.n_components, (int, np.integer)) or estimator.n_components is None
    estimator.n_components_, estimator.n_samples_ = q if given else np.int64(q), n  # types as in scikit-learn
    names = ["gap", "residual", "orthonormal", "mean"] + (["complete"] if 0 < q < min(n, d) else [])
    estimator._issue(
        "A",
        [Claim(f"eigen.{name}") for name in names],
        problem=problem,
        model=("components_", "explained_variance_", "mean_"),
        sample=(X, None, None),
        run={"solver": method, "reason": "converged"},
    )
    return estimator


def _require_sparse_solver(who: str, X, method: str) -> None:
    if sparse.issparse(X) and method not in ("arpack", "covariance_eigh"):
        raise InvalidParameter(who, "svd_solver", "'arpack' or 'covariance_eigh' for sparse X", method)


def _noise(axes: Axes, q: int, most: int) -> float:
    """Return the mean variance of the remaining directions, from the spectrum if it is known."""
    if q >= most:
        return 0.0
    if axes.spectrum is not None:
        return float(np.mean(axes.spectrum[q:]))
    return max(axes.total_variance - float(np.sum(axes.variances)), 0.0) / (most - q)


def generator(random_state) -> Any:
    """Return the random generator for the parameter ``random_state``."""
    return random_state if isinstance(random_state, np.random.Generator) else check_random_state(random_state)


def _wanted(estimator, n: int, d: int, method: str) -> Any:
    who, wanted, most = type(estimator).__name__, estimator.n_components, min(n, d)
    if n < 2:
        raise InvalidData(f"{who}: X has 1 sample (n_samples = {n}); a variance needs at least two rows.")
    if wanted is None:
        return most - 1 if method == "arpack" else most
    if wanted == "mle":
        if n < d or method not in ("full", "covariance_eigh"):
            raise InvalidData(
                f"{who}: n_components='mle' is only supported if n_samples >= n_features and with svd_solver 'full' or "
                f"'covariance_eigh'; here X is {n} x {d} and the solver {method!r}."
            )
        return wanted
    least, most = (0, most) if method in ("full", "covariance_eigh") else (1, most - (method == "arpack"))
    if not least <= wanted <= most:
        strictly = " (strictly less than min(n_samples, n_features))" if method == "arpack" else ""
        raise InvalidData(
            f"{who}: n_components={wanted!r} must be between {least} and {most}{strictly} for X of {n} x {d} with "
            f"svd_solver={method!r}."
        )
    return wanted


def _require_finite_squares(who: str, X, rows: Centered) -> None:
    largest = over_rows(X, None, _largest, combine=max)
    if not largest < LARGEST or not np.isfinite(rows.mean).all():
        raise InvalidData(f"{who}: the squares of X overflow; divide X by its largest absolute value and fit again.")


def _largest(part: Part) -> float:
    return float(np.max(np.abs(part.X.data if sparse.issparse(part.X) else part.X), initial=0.0))


def _axes(estimator, rows: Centered, method: str, wanted, random) -> Axes:
    if method in ("full", "covariance_eigh"):
        return all_axes(rows, method)
    if method == "arpack":
        return lanczos_axes(rows, int(wanted), estimator.tol, random)
    power = estimator.iterated_power
    if power == "auto":
        power = 7 if wanted < 0.1 * min(rows.X.shape) else 4
    return randomized_axes(rows, int(wanted), estimator.n_oversamples, power, random)
