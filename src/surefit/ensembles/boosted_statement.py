"""Claims of boosted trees, and their witness; the checker computes the numbers."""

from __future__ import annotations

import numpy as np

from surefit.core.claims import Claim


def training_witness(counted: np.ndarray, training: np.ndarray) -> dict[str, np.ndarray]:
    """Return the witness that identifies the rows used for training, as opposed to rows held out for early stopping."""
    if np.count_nonzero(counted) == len(training):
        return {}
    mask = np.zeros(len(counted), dtype=bool)
    mask[training] = True
    return {"training": np.packbits(mask)}


def make_claims(witness: dict[str, np.ndarray], signs: np.ndarray) -> list[Claim]:
    """Return the claims about leaves, loss and monotone columns; ``witness`` identifies the training rows."""
    claims = [Claim("boosted_trees.leaves", witness=witness), Claim("boosted_trees.loss")]
    if np.any(signs):
        claims.append(Claim("boosted_trees.monotone"))
    return [*claims, Claim("boosted_trees.global")]
