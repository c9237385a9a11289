"""Readers for scikit-learn's KMeans and GaussianMixture."""

from __future__ import annotations

from typing import Any

from surefit.audit.reading import Reading, attribute, reader
from surefit.audit.stating import asking
from surefit.core.errors import InvalidData
from surefit.core.sample import Data


@reader("sklearn", "KMeans", "MiniBatchKMeans", "BisectingKMeans")
def read_k_means(model, data: Data, tol: float) -> Reading:
    """Read k-means: the inertia, with a spectral lower bound over all partitions that is exact in one dimension."""
    k = len(attribute(model, "cluster_centers_"))
    if len(attribute(model, "labels_")) != data.X.shape[0]:
        raise InvalidData(
            f"certify: this {type(model).__name__} labeled {len(model.labels_)} rows, "
            f"but X has {data.X.shape[0]}; pass the rows of the fit."
        )
    problem = {
        "n_clusters": k,
        "bound": "line" if data.X.shape[1] == 1 else "spectral",
        "tol": float(getattr(model, "tol", tol)),
        "objective": "sum_i s_i |x_i - center of its cluster|^2",
    }

    names = ("gap", "nearest", "means", "single_move", "inertia")
    state = asking(*(f"k_means.{name}" for name in names))
    attributes = ("cluster_centers_", "labels_", "inertia_")
    return Reading("A", problem, attributes, state, run={"iterations": _steps(model)})


@reader("sklearn", "GaussianMixture")
def read_mixture(model, data: Data, tol: float) -> Reading:
    """Read a Gaussian mixture: the mean log-likelihood, and one further EM step to measure how stationary it is."""
    attribute(model, "means_")
    problem = {
        "covariance_type": model.covariance_type,
        "reg_covar": float(model.reg_covar),
        "tol": float(model.tol),
        "objective": "mean of ln sum_k weight_k N(x_i; mean_k, covariance_k)",
    }

    state = asking(*(f"mixture.{name}" for name in ("step", "score", "likelihood", "factors", "global")))
    attributes = ("weights_", "means_", "covariances_", "precisions_cholesky_")
    return Reading("B", problem, attributes, state, run={"iterations": _steps(model)})


def _steps(model: Any) -> int:
    return int(getattr(model, "n_iter_", 0) or 0)
