"""Fitted laws of classes: likelihood equations, re-derived from sums over the rows."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("map.likelihood")
def likelihood(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Compare every parameter with the moment that the likelihood equation makes it equal to, relative to its scale."""
    family, floor = certificate.problem["family"], float(certificate.problem["floor"])
    means, spreads = certificate.model["means_"], certificate.model["spreads_"]
    X = np.asarray(data.X.toarray() if hasattr(data.X, "toarray") else data.X, dtype=np.float64)
    weights = np.ones(len(X)) if data.weights is None else np.asarray(data.weights, dtype=np.float64)
    labels, worst = claim.witness["classes"], 0.0
    labels = labels.astype(np.float64) if labels.dtype.kind in "biuf" else labels
    scale = max(float(np.max(np.abs(X))), 1e-300)
    pooled, total = np.zeros((X.shape[1], X.shape[1])), math.fsum(weights)
    for k, label in enumerate(labels):
        rows = np.flatnonzero((data.target == label) & (weights > 0))
        if not len(rows):
            return Finding(claim.name, claim.value, math.inf, False, "recomputed", f"Class {label!r} has no row.")
        w, x = weights[rows], X[rows]
        mass = math.fsum(w)
        mean = np.array([math.fsum(w * column) / mass for column in x.T])
        if family == "bernoulli":
            worst = max(worst, float(np.max(np.abs((mean * mass + floor) / (mass + 2 * floor) - means[k]))))
            continue
        worst = max(worst, float(np.max(np.abs(mean - means[k]))) / scale)
        about = x - mean
        if family == "diagonal":
            variance = np.array([math.fsum(w * column**2) / mass for column in about.T]) + floor
            worst = max(worst, float(np.max(np.abs(variance - spreads[k]))) / scale**2)
        else:
            scatter = (about * w[:, None]).T @ about
            pooled += scatter
            if family == "full":
                worst = max(
                    worst, float(np.max(np.abs(scatter / mass + floor * np.eye(len(mean)) - spreads[k]))) / scale**2
                )
    if family == "common":
        worst = max(worst, float(np.max(np.abs(pooled / total + floor * np.eye(len(pooled)) - spreads[0]))) / scale**2)
    limit = float(claim.limit if claim.limit is not None else 0.0)
    known = np.isin(data.target[weights > 0], labels).all()
    message = f"Largest deviation from the likelihood equations, relative to the rows: {worst:.2g}."
    return Finding(claim.name, claim.value, worst, bool(known and worst <= limit), "recomputed", message)
