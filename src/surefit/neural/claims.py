"""What a trained network claims, in words and numbers."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.checks.directions import sign_direction
from surefit.checks.output_layer import LayerGap
from surefit.core.claims import Claim
from surefit.solvers.networks.architecture import Architecture

DIRECTIONS = 3
AGREEMENT = 1e-4  # of the norm of the gradient: what central differences of a smooth function resolve with ease


class Measured(NamedTuple):
    """What the fit found out about its own end point, over all rows and in double precision."""

    objective: float
    gradient: np.ndarray
    layer: LayerGap | None  # None where the last layer is not a convex problem


def make_claims(
    measured: Measured,
    architecture: Architecture,
    *,
    steepest_allowed: float | None,
    relative_gap_allowed: float | None,
    log: list[float] | None,
) -> list[Claim]:
    """State the objective, stationarity, the last layer, the links, and that nothing is known of other minima."""
    J, gradient = measured.objective, measured.gradient
    norm, steepest = float(np.linalg.norm(gradient)), float(np.max(np.abs(gradient), initial=0.0))
    slopes = np.array([sign_direction(seed, len(gradient)) @ gradient for seed in range(DIRECTIONS)])
    claims = [
        Claim(
            "network.gradient",
            "optimality",
            f"No slope of the objective is larger than {steepest:.3g} (norm {norm:.3g}): how nearly stationary the point is.",
            value=steepest,
            limit=steepest_allowed,
            numbers={"norm": norm},
        ),
        _last_layer(measured.layer, relative_gap_allowed),
        Claim(
            "network.gradient_check",
            "process_fact",
            f"Back-propagated slopes along {DIRECTIONS} random directions agree with central differences.",
            value=AGREEMENT * norm + 1e-9 * (1 + abs(J)),
            witness={"slopes": slopes},
        ),
        Claim("network.objective", "data_fact", f"The objective on all rows is {J:.6g}.", value=J),
    ]
    if any(table is not None for table in architecture.tables):
        claims.append(
            Claim(
                "network.links",
                "feasibility",
                f"{architecture.n_links} links carry {architecture.n_parameters} free parameters: weights are zero where no "
                "link is and equal where they are shared, exactly.",
                value=0.0,
                limit=0.0,
            )
        )
    if log is not None:
        claims.append(
            Claim(
                "network.monotone",
                "process_fact",
                f"The objective never rose in {len(log) - 1} steps, from {log[0]:.6g} to {log[-1]:.6g}.",
                value=0.0,
                limit=0.0,
                about="the steps of the fit",
                witness={"log": np.array(log)},
            )
        )
    claims.append(
        Claim("network.global", "no_claim", "Nothing is claimed about other minima: the problem is not convex.")
    )
    return claims


def _last_layer(layer: LayerGap | None, allowed: float | None) -> Claim:
    if layer is None:
        words = "Squared error of softmax or logistic outputs is not convex: nothing is claimed about the last layer."
        return Claim("network.output_gap", "no_claim", words)
    words = (
        f"With the hidden units as they are, no other last layer has an objective smaller by more than {layer.gap:.3g} "
        f"(of {layer.objective:.3g})."
    )
    if layer.gap >= 0.999 * layer.objective:
        words += " The bound is vacuous: it only says that objectives are not negative."
    limit = None if allowed is None else allowed * layer.objective
    return Claim(
        "network.output_gap",
        "optimality",
        words,
        value=layer.gap,
        limit=limit,
        about="the last layer, given the hidden units",
        numbers={"objective": layer.objective},
    )
