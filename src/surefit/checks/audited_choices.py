"""Checks the parameter that a model of scikit-learn chose: by scores that it keeps, or by leaving rows out again."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from surefit.checks.audited_free import leave_one_out
from surefit.checks.audited_models import inner
from surefit.checks.base import Data, Finding, checker
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-9


@checker("audit.choice_by_scores")
def check_choice(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean score of what was chosen is within value of the best mean score that the model keeps."""
    means = claim.witness["scores"].mean(axis=1)
    found = float(means.max() - means[claim.numbers["chosen"]])
    ok = found <= claim.value + ROUNDING * float(np.max(np.abs(means)))
    return Finding(claim.name, claim.value, found, bool(ok), "recomputed", f"{len(means)} mean scores compared.")


@checker("audit.choice_by_left_out")
def check_left_out(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Leaving rows out one at a time, the penalty that was chosen errs by at most value more than the best of the candidates."""
    found = excess_of_choice(certificate, data, claim.numbers["candidates"])
    return Finding(
        claim.name,
        claim.value,
        found,
        bool(found <= claim.value + ROUNDING),
        "recomputed",
        "every candidate tried again.",
    )


def excess_of_choice(certificate: Certificate, data: Data, candidates: list[float]) -> float:
    """Leave-one-out error of the penalty in use over the best one, less 1."""
    read_as, rows = inner(certificate, data)

    def error(alpha: float) -> float:
        other = replace(read_as, problem={**read_as.problem, "alpha": [alpha]}, seal="")
        return leave_one_out(other, Data(rows.X, rows.y, rows.weights, {}, None))

    own, best = error(float(read_as.problem["alpha"][0])), min(map(error, candidates))
    return own / best - 1.0 if best > 0 else (0.0 if own == 0 else math.inf)
