"""Penalty of a logistic regression, from scikit-learn's deprecated or current parameters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.warn import warn
from surefit.problems.linear import logistic_penalty


class Penalty(NamedTuple):
    """Weights of the penalty and of the loss: ``l1 |w|_1 + l2/2 |w|^2 + C * loss``; C is 1 if there is no penalty."""

    l1: float
    l2: float
    C: float
    factors: np.ndarray | None = None  # of the features

    @property
    def everywhere(self) -> bool:
        """Whether every feature is penalized."""
        return self.factors is None or bool(np.min(self.factors, initial=1.0) > 0)

    @property
    def free(self) -> bool:
        """Whether nothing is penalized."""
        return self.l1 == 0.0 and self.l2 == 0.0


def read_penalty(estimator) -> Penalty:
    """Return the penalty; ``C=inf`` means none, and the deprecated ``penalty`` is accepted with a warning."""
    who = type(estimator).__name__
    if estimator.penalty != "deprecated":
        warn(
            f"{who}: 'penalty' is deprecated, as in scikit-learn; use C=inf for no penalty, l1_ratio=0 for 'l2', "
            "l1_ratio=1 for 'l1', and l1_ratio between them for 'elasticnet'.",
            FutureWarning,
        )
        if estimator.penalty == "elasticnet" and estimator.l1_ratio is None:
            raise InvalidParameter(who, "l1_ratio", "a number from 0 to 1 with penalty='elasticnet'", None)
    return Penalty(*logistic_penalty(estimator.get_params(deep=False)))
