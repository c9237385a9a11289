"""Common parts of the five procedures of ``Certified``: the data, the units, the loss, and a fit on some of the rows."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from surefit.core.claims import Claim
from surefit.core.rows import take_rows
from surefit.risk.losses import Loss
from surefit.risk.parts import fit_part
from surefit.risk.units import Units


@dataclass(frozen=True)
class Study:
    """Input of one run of a procedure."""

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
        """Return the inputs of some rows, in that order."""
        return take_rows(self.X, rows)

    @property
    def tags(self) -> tuple[str, ...]:
        """Assumptions of every claim of the study."""
        return (*self.units.tags, *self.declared)


@dataclass(frozen=True)
class Outcome:
    """Result of a procedure: the models, the claims, their rows, and the division of delta."""

    estimator: Any
    claims: tuple[Claim, ...]
    ledger: list[tuple[str, float]]
    train_rows: np.ndarray
    test_rows: np.ndarray
    twin: Any = None
    models: tuple = ()
    weights: tuple[float, ...] = ()
    fresh: Any = None  # unlabeled inputs on which the models were evaluated
    pilot: Any = None  # model whose losses chose the rate of progressive validation
    block_sizes: np.ndarray | None = None
