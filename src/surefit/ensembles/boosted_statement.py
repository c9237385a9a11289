"""Claims of boosted trees, and their witness; the checker computes the numbers."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim


def make_claims(counted: np.ndarray, training: np.ndarray, signs: np.ndarray) -> list[Claim]:
    """Return the claims about leaves, loss and monotone columns; rows held out for early stopping need a witness."""
    mask = np.zeros(len(counted), dtype=bool)
    mask[training] = True
    held_out = np.count_nonzero(counted) != len(training)
    claims = [
        Claim("boosted_trees.leaves", witness={"training": np.packbits(mask)} if held_out else {}),
        Claim("boosted_trees.loss"),
    ]
    if np.any(signs):
        claims.append(Claim("boosted_trees.monotone"))
    return [*claims, Claim("boosted_trees.global")]
