"""Claims of AdaBoost; the slack of the stump claims covers the rounding errors of the fit and of the checker."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim
from surefit.ensembles.stump import rounding
from surefit.solvers.boosting.adaboost import Rounds


def make_claims(
    rounds: Rounds, *, n_classes: int, n: int, textbook: bool, stumps: bool, smallest_margin: float
) -> list[Claim]:
    """Return the claims: the product bound, its factors, and, for stumps, the optimality of each stump."""
    claims = [
        Claim("adaboost.product", witness={} if stumps else {"votes": pack(rounds.said, n_classes)}),
        Claim("adaboost.training_error"),
    ]
    if textbook:
        claims += [Claim("adaboost.edges"), Claim("adaboost.half_weight")]
    if not stumps:
        return claims
    # The tolerance covers ties (up to 1e-13) and the rounding errors of the sums on both sides of each comparison.
    count = len(rounds.log)
    tolerance = 1e-13 + 24 * rounding(n + 8 * count + 16)
    claims.append(Claim("adaboost.stumps", tolerance, numbers={"rounds": count}))
    if n_classes == 2:
        largest_margin = 1 - 2 * max(entry.error for entry in rounds.log) + 2 * tolerance
        lowest = smallest_margin - tolerance
        numbers = {"smallest_margin": lowest, "reach": largest_margin}
        claims.append(Claim("adaboost.margin", max(largest_margin - lowest, 0.0) + 2 * tolerance, numbers=numbers))
    return claims


def pack(said: list[np.ndarray], n_classes: int) -> np.ndarray:
    """Return the votes of all members as a table: bits for two classes, otherwise small integers."""
    table = np.array(said)
    if n_classes <= 2:
        return np.packbits(table.astype(bool), axis=1)
    return table.astype(np.uint8 if n_classes <= 256 else np.uint32)
