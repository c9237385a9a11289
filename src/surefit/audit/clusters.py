"""Reads partitions and mixtures of scikit-learn: KMeans and GaussianMixture."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from surefit.audit.reading import Reading, attribute, reader
from surefit.audit.stating import claim, proved
from surefit.checks.audited_models import inner
from surefit.checks.base import CHECKERS, Data
from surefit.checks.clusters import walk_of
from surefit.checks.enclosure import gamma
from surefit.checks.partition_bounds import lower_bound
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData

LIKELIHOOD_ROUNDING = 1e-9
RESOLUTION = 1e-20  # share of the variance by which rounding may move a mean (squared)


@reader("sklearn", "KMeans", "MiniBatchKMeans", "BisectingKMeans")
def read_k_means(model, data: Data, tol: float) -> Reading:
    """Sum of squared distances to the centres; a lower bound of all partitions by the spectrum, or exactly on a line."""
    k = len(attribute(model, "cluster_centers_"))
    if len(attribute(model, "labels_")) != data.X.shape[0]:
        raise InvalidData(
            f"certify: this {type(model).__name__} labelled {len(model.labels_)} rows, X has {data.X.shape[0]}; pass the rows of the fit."
        )
    problem = {
        "n_clusters": k,
        "bound": "line" if data.X.shape[1] == 1 else "spectral",
        "objective": "sum_i s_i |x_i - centre of its cluster|^2",
    }

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        read_as, seen = inner(draft, rows)
        walk = walk_of(read_as, seen)
        if walk is None:
            raise InvalidData(
                f"certify: labels_ of this {type(model).__name__} do not name one of its centres for each row."
            )
        bound, radius = lower_bound(read_as, Claim("k_means.gap", "optimality", ""), seen)
        bound = max(bound - radius, 0.0)
        value = max(walk.inertia - bound, 0.0) + walk.radius
        relative = value / walk.inertia if walk.inertia > 0 else 0.0
        off = math.fsum(((np.abs(walk.off) + walk.off_radius) ** 2).ravel()) * (1 + gamma(8))
        spread = float(np.mean(np.var(np.asarray(seen.X.toarray() if hasattr(seen.X, "toarray") else seen.X), axis=0)))
        moves = "No single row can change cluster and lower the inertia."
        if walk.movable:
            moves = f"{walk.movable} rows could change cluster alone and lower the inertia, by {walk.gain_bound:.3g} at most."
        return [
            claim(
                "k_means.gap",
                "optimality",
                f"The inertia is {walk.inertia:.6g}; no partition has one below {bound:.6g}, "
                f"which is {100 * relative:.3g} % less.",
                value,
                numbers={"lower_bound": bound, "relative": relative, "reported": float(model.inertia_)},
            ),
            claim(
                "k_means.nearest",
                "optimality",
                "Every row is at its nearest centre."
                if walk.excess == 0.0
                else f"Row {walk.worst_row} is nearer to another centre, by {walk.excess:.3g} (squared distance).",
                walk.excess,
                limit=0.0,
            ),
            claim(
                "k_means.means",
                "optimality",
                f"The {k} centres differ from the means of their rows by {off:.3g} in all (sum of squares).",
                off,
                limit=float(getattr(model, "tol", tol)) * spread + RESOLUTION * spread,
            ),
            claim("k_means.single_move", "optimality", moves, walk.gain_bound, numbers={"rows": walk.movable}),
        ]

    return Reading("A", problem, ("cluster_centers_", "labels_"), state, run={"iterations": _steps(model)})


@reader("sklearn", "GaussianMixture")
def read_mixture(model, data: Data, tol: float) -> Reading:
    """Mean log-likelihood; one further step of expectation maximisation tells how stationary it is."""
    attribute(model, "means_")
    problem = {
        "covariance_type": model.covariance_type,
        "reg_covar": float(model.reg_covar),
        "objective": "mean of ln sum_k weight_k N(x_i; mean_k, covariance_k)",
    }

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        gain, score = (proved(draft, rows, f"mixture.{name}").proved for name in ("step", "score"))
        minus = proved(draft, rows, "mixture.likelihood").proved
        likelihood = claim(
            "mixture.likelihood", "data_fact", f"The mean log-likelihood of the rows is {-minus:.9g}.", minus
        )
        if not CHECKERS[likelihood.name](replace(draft, claims=(likelihood,), seal=""), likelihood, rows).ok:
            raise InvalidData(
                "certify: weights, covariances and factors of this GaussianMixture do not belong together."
            )
        rounding = LIKELIHOOD_ROUNDING * (1 + abs(minus))
        return [
            claim(
                "mixture.step",
                "optimality",
                f"One further step raises the mean log-likelihood by {max(gain, 0.0):.3g}.",
                max(gain, 0.0) + rounding,
                limit=float(model.tol) + rounding,
            ),
            claim(
                "mixture.score",
                "optimality",
                f"The gradient of the mean log-likelihood has norm {score:.3g}, in units of the information of a row whose component "
                "is known.",
                score + LIKELIHOOD_ROUNDING,
            ),
            likelihood,
            Claim(
                "mixture.global",
                "no_claim",
                "Nothing is claimed about other parameters: the likelihood has many local maxima.",
            ),
        ]

    names = ("weights_", "means_", "covariances_", "precisions_cholesky_")
    return Reading("B", problem, names, state, run={"iterations": _steps(model)})


def _steps(model: Any) -> int:
    return int(getattr(model, "n_iter_", 0) or 0)
