"""What a k-means partition claims, in words and numbers."""

from __future__ import annotations

import math

import numpy as np

from surefit.core.claims import Claim
from surefit.solvers.lloyd import Partition
from surefit.solvers.partition_bounds import PartitionBound
from surefit.solvers.points import Summary

#: Share of the total scatter that rounding may add to J from one step to the next.
ROUNDING = 2e-12

HOW = {
    "spectral": "by the eigenvalues of the scatter matrix",
    "sdp": "by semidefinite duality",
    "line": "by dynamic programming over all partitions of the line",
    "none": "trivially, no bound was computed",
}


def make_claims(
    best: Partition, bound: PartitionBound, start: np.ndarray, tolerance: float, resolution: float, summary: Summary
) -> list[Claim]:
    """State the fixed point, the accounting, the lower bound, the single moves and the log."""
    k, inertia = len(best.centres), best.inertia
    return [
        _gap(best, bound),
        Claim(
            "k_means.nearest",
            "optimality",
            "Every row is at its nearest centre.",
            value=0.0,
            limit=0.0,
        ),
        Claim(
            "k_means.means",
            "optimality",
            f"The {k} centres differ from the means of their rows by {best.residual:.3g} in all (sum of squares).",
            value=_with(best.residual, resolution),
            limit=_with(tolerance, resolution),
            numbers={"steps": best.n_iter},
        ),
        Claim(
            "k_means.single_move",
            "optimality",
            _moves_in_words(best),
            value=best.best_move,
            numbers={"rows": best.improving_moves},
        ),
        Claim(
            "k_means.inertia",
            "data_fact",
            f"The inertia is {inertia:.6g}, {_share(inertia, summary.scatter)} of the scatter about the mean.",
            value=inertia,
            numbers={"scatter": summary.scatter},
        ),
        _log(best, start, summary),
    ]


def _with(square: float, resolution: float) -> float:
    """Largest sum of squares of numbers that rounding has moved: their norms add up."""
    return (math.sqrt(square) + math.sqrt(resolution)) ** 2


def _moves_in_words(best: Partition) -> str:
    if best.improving_moves == 0:
        return "No single row can change cluster and lower the inertia."
    return f"{best.improving_moves} rows could change cluster alone and lower the inertia, by {best.best_move:.3g} at most."


def _gap(best: Partition, bound: PartitionBound) -> Claim:
    inertia = best.inertia
    value = max(inertia - bound.value, 0.0)
    relative = value / inertia if inertia > 0 else 0.0
    words = (
        f"No partition has an inertia below {bound.value:.6g}, proved {HOW[bound.method]}: this one is within "
        f"{100 * relative:.3g} % of its inertia of the best possible."
    )
    if bound.value <= 0 < inertia:
        words = f"Nothing better than inertia >= 0 is known of other partitions ({HOW[bound.method]}): the bound is vacuous."
    witness = {} if bound.multipliers is None else {"multipliers": bound.multipliers}
    return Claim(
        "k_means.gap",
        "optimality",
        words,
        value=value,
        numbers={"lower_bound": min(bound.value, inertia), "relative": relative},
        witness=witness,
    )


def _log(best: Partition, start: np.ndarray, summary: Summary) -> Claim:
    values = best.history[:, 1:].ravel()
    rise = float(np.max(np.diff(values), initial=0.0))
    return Claim(
        "k_means.monotone",
        "process_fact",
        f"The inertia never rose (beyond rounding) in the {len(values)} half-steps from {values[0]:.6g} to {values[-1]:.6g}.",
        value=rise,
        limit=ROUNDING * summary.squares,
        about="the steps of the best start",
        witness={"log": values, "start": np.asarray(start, dtype=np.float64)},
    )


def _share(part: float, whole: float) -> str:
    return f"{100 * part / whole:.3g} %" if whole > 0 else "all"
