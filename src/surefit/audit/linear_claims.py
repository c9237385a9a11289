"""What is said of a linear model of another library: its gap, and what the exact optimum would predict otherwise."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from surefit.checks.audited import excess_of, labels_in_doubt, prediction_reach
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

SPARE = 1e-14  # share of the objective that another order of its sums may change


def linear_claims(null: float, tol: float, witness: dict, classifier: bool | None):
    """Return the function that states the claims about a draft; ``classifier`` is None where labels of the optimum mean nothing."""

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        blank = Claim("audit.gap", "optimality", "", witness=witness)
        draft = replace(draft, claims=(blank,), seal="")
        found = excess_of(draft, rows)
        gap = Claim(
            "audit.gap",
            "optimality",
            in_words(found.objective, found.least, found.most),
            value=found.most,
            limit=tol * null,
            numbers={"objective": found.objective, "at_least": found.least, "null_objective": null},
            level=found.level,
        )
        if classifier is None:
            return [gap]
        n = rows.X.shape[0] if rows.weights is None else int(np.sum(rows.weights > 0))
        if classifier:
            count = int(np.sum(labels_in_doubt(draft, rows)))
            words = f"{n - count} of {n} training labels are those of the exact optimum; {count} could change."
            return [gap, Claim("audit.labels", "uncertainty", words, value=float(count))]
        reach = prediction_reach(draft, rows, SPARE)
        if not np.all(np.isfinite(reach)):
            words = "How far training predictions are from those of the exact optimum is not known."
            return [gap, Claim("audit.predictions", "no_claim", words)]
        largest, usual = float(np.max(reach, initial=0.0)), math.sqrt(float(np.mean(reach**2)))
        words = f"No training prediction is farther than {largest:.3g} from that of the exact optimum (root mean square: {usual:.3g})."
        return [gap, Claim("audit.predictions", "uncertainty", words, value=largest)]

    return state


def in_words(objective: float, least: float, most: float) -> str:
    """Say how far from the optimum the objective is."""
    if least > 0.1 * most:
        return f"The objective {objective:.6g} is between {least:.4g} and {most:.4g} above the smallest possible one."
    return f"The objective {objective:.6g} is within {most:.3g} of the smallest possible one."
