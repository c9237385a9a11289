"""What a fit on a table is asked to do, and the table made ready for it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import BOOLEAN, COUNT, FRACTION, NON_NEGATIVE, NOTHING, POSITIVE, Rule, one_of
from surefit.linear.elastic_net import ElasticNet
from surefit.linear.elastic_net_cv import ElasticNetCV, LassoCV
from surefit.linear.lasso import Lasso
from surefit.tables.cells import as_numbers, kind_of
from surefit.tables.table import Table

FOLDS = 5
USUAL_TARGETS = ("target", "y")

_RULES: dict[str, Rule] = {
    "model": one_of("lasso", "elastic_net"),
    "alpha": NOTHING | NON_NEGATIVE,
    "l1_ratio": FRACTION,
    "test_size": Rule("a number from 0 up to, but not including, 1", lambda v: FRACTION.allows(v) and v < 1),
    "seed": Rule("an integer from 0 to 4294967295", lambda v: COUNT.allows(v + 1) and v < 2**32),
    "max_time": NOTHING | POSITIVE,
    "standardise": BOOLEAN,
    "max_levels": COUNT,
    "drop_missing": BOOLEAN,
}


@dataclass(frozen=True)
class Plan:
    """How to fit a table.

    Parameters
    ----------
    target : str or None
        Column to predict; None takes the one called ``target`` or ``y``.
    model : {"lasso", "elastic_net"}
        Which penalty.
    alpha : float >= 0 or None
        Weight of the penalty; None chooses it by cross-validation.
    l1_ratio : float in [0, 1]
        Share of the l1 norm in the elastic net.
    test_size : float in [0, 1)
        Share of the rows that are kept back to test the model.
    seed : int >= 0
        Fixes the split.
    max_time : float > 0 or None
        Seconds the fit may take.
    standardise : bool
        Whether features are scaled to standard deviation one before they are penalised.
    max_levels : int >= 1
        Text columns with more levels are left out.
    drop : tuple of str
        Columns to leave out.
    drop_missing : bool
        Whether to leave out rows with missing cells instead of refusing them.

    Examples
    --------
    >>> from surefit.tables import Plan
    >>> Plan(target="price", alpha=-1.0)
    Traceback (most recent call last):
    ...
    surefit.core.errors.InvalidParameter: fit: alpha must be None, or a finite number >= 0; got -1.0.
    """

    target: str | None = None
    model: str = "lasso"
    alpha: float | None = None
    l1_ratio: float = 0.5
    test_size: float = 0.2
    seed: int = 0
    max_time: float | None = None
    standardise: bool = True
    max_levels: int = 100
    drop: tuple[str, ...] = ()
    drop_missing: bool = False

    def __post_init__(self):
        for name, rule in _RULES.items():
            if not rule.allows(getattr(self, name)):
                raise InvalidParameter("fit", name, rule.words, getattr(self, name))
        if self.model == "elastic_net" and self.alpha is None and self.l1_ratio == 0:
            raise InvalidData(
                "fit: l1_ratio 0 is ridge regression, for which alpha must be given, not cross-validated."
            )

    def estimator(self, y: np.ndarray) -> Any:
        """Return the estimator to fit on rows with these targets."""
        n_rows = len(y)
        alpha = self.alpha
        if alpha is None and n_rows > 1 and np.ptp(y) == 0:
            alpha = 1.0  # a constant target is fitted by every weight; there is nothing to compare
        if alpha is not None:
            if self.model == "lasso":
                return Lasso(alpha=alpha, max_time=self.max_time)
            return ElasticNet(alpha=alpha, l1_ratio=self.l1_ratio, max_time=self.max_time)
        if n_rows < 2:
            raise InvalidData(
                f"fit: cross-validation needs at least 2 training rows and there is {n_rows}; give --alpha, a smaller "
                "--test-size, or more rows."
            )
        folds = min(FOLDS, n_rows)
        if self.model == "lasso":
            return LassoCV(cv=folds, max_time=self.max_time)
        return ElasticNetCV(cv=folds, l1_ratio=self.l1_ratio, max_time=self.max_time)

    def prepared(self, table: Table) -> tuple[Table, str]:
        """Return the table without what is to be left out, and the name of the target."""
        target = self.target if self.target is not None else _usual_target(table)
        table.require([target, *self.drop])
        if target in self.drop:
            raise InvalidData(f"{table.source}: the target {target!r} cannot be left out.")
        table = table._replace(frame=table.frame.drop(list(self.drop)))
        if table.frame.width < 2:
            raise InvalidData(f"{table.source}: there is no column besides the target {target!r} to predict it from.")
        if self.drop_missing:
            table = _without_missing(table)
        if table.frame.height < 2:
            raise InvalidData(f"{table.source}: there is one row only; a model needs at least 2, better hundreds.")
        return table, target


def _usual_target(table: Table) -> str:
    usual = [name for name in table.frame.columns if name.lower() in USUAL_TARGETS]
    if len(usual) == 1:
        return usual[0]
    shown = ", ".join(repr(name) for name in table.frame.columns[:12]) + (", ..." if table.frame.width > 12 else "")
    raise InvalidData(f"{table.source}: which column is to be predicted? Say --target NAME; the columns are {shown}.")


def _without_missing(table: Table) -> Table:
    missing = np.zeros(table.frame.height, dtype=bool)
    for column in table.frame:
        kind = kind_of(column)
        if kind in ("number", "boolean", "date", "time"):
            missing |= np.isnan(as_numbers(column))
        elif kind == "text":
            missing |= column.is_null().to_numpy()
    if missing.all():
        raise InvalidData(f"{table.source}: every row has a missing cell; leave out columns instead of rows.")
    if not missing.any():
        return table
    said = f"{int(missing.sum())} of {len(missing)} rows have missing cells and were left out."
    return table.take(np.flatnonzero(~missing))._replace(remarks=(*table.remarks, said))
