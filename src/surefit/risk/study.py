"""What the four procedures of ``Certified`` share: the data, the units, the loss, and a fit on some of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefit.checks.risk_rows import take_rows
from surefit.core.claims import Claim
from surefit.risk.losses import Loss
from surefit.risk.parts import fit_part
from surefit.risk.units import Units


@dataclass(frozen=True)
class Study:
    """One run of a procedure: everything it may look at."""

    who: str
    estimator: Any
    X: Any
    y: np.ndarray
    units: Units
    order: np.ndarray  # units in random order
    loss: Loss
    delta: float
    coverage: float
    declared: tuple[str, ...]
    fit_params: dict[str, Any] = field(default_factory=dict)

    def fit(self, rows: np.ndarray) -> Any:
        """Fit a clone on some rows."""
        return fit_part(self.who, self.estimator, self.X, self.y, rows, self.fit_params)

    def rows_of(self, rows: np.ndarray) -> Any:
        """Inputs of some rows, in that order."""
        return take_rows(self.X, rows)

    @property
    def tags(self) -> tuple[str, ...]:
        """Assumptions that every claim of the study makes."""
        return (*self.units.tags, *self.declared)


@dataclass(frozen=True)
class Outcome:
    """What a procedure returns: the models, the claims, the rows they speak of, and how delta was spent."""

    estimator: Any
    claims: tuple[Claim, ...]
    ledger: list[tuple[str, float]]
    train_rows: np.ndarray
    test_rows: np.ndarray
    twin: Any = None
    models: tuple = ()
    weights: tuple[float, ...] = ()
    fresh: Any = None  # inputs without labels, as the models were asked about them
