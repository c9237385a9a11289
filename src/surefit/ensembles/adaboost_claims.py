"""What a run of AdaBoost claims, in words and numbers."""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.stump import resolution
from surefit.core.claims import Claim
from surefit.solvers.boosting.adaboost import Rounds

HALF_WEIGHT = 1e-9


def make_claims(
    rounds: Rounds, *, n_classes: int, n: int, textbook: bool, stumps: bool, smallest_margin: float
) -> list[Claim]:
    """State the product, what lies under it and above it, and, for stumps, that each was the best."""
    log = rounds.log
    errors = np.array([entry.error for entry in log])
    product = math.prod(entry.Z for entry in log)
    failed = log[-1].training_error
    claims = [
        Claim(
            "adaboost.product",
            "process_fact",
            f"The mean exponential loss is the product of {len(log)} normalisers, {product:.6g}; the training error is not larger.",
            value=product,
            witness={} if stumps else {"votes": pack(rounds.said, n_classes)},
        ),
        Claim(
            "adaboost.training_error",
            "data_fact",
            f"The training error is {failed:.6g} (ties counted as errors), at most {product:.6g}.",
            value=failed,
            limit=product * (1 + 1e-12),
        ),
    ]
    if textbook:
        bound = math.exp(-2 * math.fsum((0.5 - errors) ** 2))
        words = f"With edges of at least {0.5 - errors.max():.3g} over chance, the product is at most {bound:.6g}."
        claims.append(Claim("adaboost.edges", "process_fact", words, value=bound))
        words = "Under the weights that follow it, each member errs with weight one half."
        claims.append(
            Claim(
                "adaboost.half_weight", "process_fact", words, value=HALF_WEIGHT, limit=HALF_WEIGHT, about="the rounds"
            )
        )
    if stumps:
        doubt = resolution(n) + len(log) * 1e-12
        words = f"In each round no stump had a weighted error smaller than the chosen one's by more than {doubt:.1g}."
        claims.append(Claim("adaboost.stumps", "optimality", words, value=doubt, limit=doubt, about="the rounds"))
    if stumps and n_classes == 2:
        reach = 1 - 2 * float(errors.max())
        gap = reach - smallest_margin + 2 * doubt
        words = (
            f"The smallest normalised margin is {smallest_margin:.4g}; no vote of stumps has one above {reach:.4g}, "
            f"so at most {gap:.3g} is missing."
        )
        numbers = {"smallest_margin": smallest_margin, "reach": reach}
        claims.append(Claim("adaboost.margin", "optimality", words, value=gap, numbers=numbers))
    return claims


def pack(said: list[np.ndarray], n_classes: int) -> np.ndarray:
    """The votes of all members as a table: bits for two classes, else small integers."""
    table = np.array(said)
    if n_classes <= 2:
        return np.packbits(table.astype(bool), axis=1)
    return table.astype(np.uint8 if n_classes <= 256 else np.uint32)
