"""What boosted trees claim, in words and numbers."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim

ROUNDING = 1e-6


def make_claims(estimator, log: np.ndarray, training: np.ndarray, n: int, signs: np.ndarray) -> list[Claim]:
    """State the loss, that leaves are Newton steps, what the loss did, and monotone columns."""
    mask = np.zeros(n, dtype=bool)
    mask[training] = True
    rise = float(np.max(np.diff(log), initial=0.0))
    allowed = ROUNDING * (1 + float(np.max(np.abs(estimator.tree_value_), initial=0.0)))
    claims = [
        Claim(
            "boosted_trees.leaves",
            "optimality",
            f"Every leaf of {len(estimator.tree_starts_) - 1} trees is the best step of its rows (a Newton step, or a quantile of "
            f"the residuals) times the learning rate, up to {allowed:.1g}.",
            value=allowed,
            limit=allowed,
            witness={"training": np.packbits(mask)},
        ),
        Claim(
            "boosted_trees.loss",
            "data_fact",
            f"The mean loss on the {len(training)} training rows is {log[-1]:.6g}.",
            value=float(log[-1]),
        ),
        Claim(
            "boosted_trees.monotone_loss",
            "process_fact",
            f"The loss fell from {log[0]:.6g} to {log[-1]:.6g} in {len(log) - 1} rounds; "
            + ("it never rose." if rise <= 0 else f"its largest rise in a round was {rise:.2g}."),
            value=rise,
            about="the rounds of the fit",
            witness={"log": log},
        ),
    ]
    if np.any(signs):
        words = f"The scores are monotone in {np.count_nonzero(signs)} columns, for all rows there can be."
        claims.append(Claim("boosted_trees.monotone", "feasibility", words, value=0.0, limit=0.0))
    claims.append(
        Claim(
            "boosted_trees.global", "no_claim", "Nothing is claimed about other sums of trees: they are found greedily."
        )
    )
    return claims
