"""Which penalty a logistic regression asks for, in scikit-learn's old words or in its new ones."""

from __future__ import annotations

import warnings
from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter


class Penalty(NamedTuple):
    """Weights of the penalty and of the loss: ``l1 |w|_1 + l2/2 |w|^2 + C * loss``; no penalty has C = 1."""

    l1: float
    l2: float
    C: float

    @property
    def free(self) -> bool:
        """Whether nothing is penalised."""
        return self.l1 == 0.0 and self.l2 == 0.0


def read_penalty(estimator) -> Penalty:
    """Return the penalty. ``C=inf`` is none; the deprecated ``penalty`` is understood, with a warning."""
    who, C, ratio = type(estimator).__name__, float(estimator.C), estimator.l1_ratio
    ratio = 0.0 if ratio is None else float(ratio)
    if estimator.penalty != "deprecated":
        warnings.warn(
            f"{who}: 'penalty' is deprecated, as in scikit-learn; use C=inf for no penalty, l1_ratio=0 for 'l2', "
            "l1_ratio=1 for 'l1', and l1_ratio between them for 'elasticnet'.",
            FutureWarning,
            stacklevel=4,
        )
        if estimator.penalty is None:
            return Penalty(0.0, 0.0, 1.0)
        if estimator.penalty == "elasticnet" and estimator.l1_ratio is None:
            raise InvalidParameter(who, "l1_ratio", "a number from 0 to 1 with penalty='elasticnet'", None)
        ratio = {"l1": 1.0, "l2": 0.0}.get(estimator.penalty, ratio)
    if np.isinf(C):
        return Penalty(0.0, 0.0, 1.0)
    return Penalty(ratio, 1.0 - ratio, C)
