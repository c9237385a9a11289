"""Signs that invalidate a bound: scaling with statistics of all rows, rows ordered in time, and noisy copies."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import DataWarning
from surefit.core.guards.extremes import running
from surefit.core.warn import warn
from surefit.risk.signs import WITHDRAWN, Copies, noisy_copies, remarks
from surefit.risk.units import sign_of_scaling

CLOCKS = ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")


def why_void(X: Any, y: Any = None, *, groups: Any = None, assume: tuple[str, ...] = ()) -> str | None:
    """Return the reason why nothing can be claimed on these rows, with a remedy, or None."""
    scaled = None if "fixed_scaling" in assume else sign_of_scaling(X)
    reason = why_not_fresh(scaled, groups is None and (in_time_order(X) or in_time_order(y)), assume)
    if reason is not None:
        return reason
    if groups is None:
        for remark in remarks(X, y):
            warn(f"{running()}: {remark}.", DataWarning)
        copies = Copies([], 0.0) if "equal_rows_are_draws" in assume else noisy_copies(X)
        if copies.share > WITHDRAWN:
            return str(copies)
        if copies.pairs:
            warn(f"{running()}: {copies}.", DataWarning)
    return None


def why_not_fresh(scaled: str | None, in_order: bool, assume: tuple[str, ...]) -> str | None:
    """Return the reason why scaling or a time index prevents a claim, or None."""
    if scaled is not None:
        return (
            f"{scaled}, so it was scaled with statistics of all rows, including the tested ones; put the scaler into a "
            "Pipeline, or declare assume=('fixed_scaling',) if the scaling was fixed in advance"
        )
    if in_order and "independent_times" not in assume:
        return (
            "the rows are indexed by time, and rows close in time may be dependent; pass groups (days, runs), or declare "
            "assume=('independent_times',) if they are independent"
        )
    return None


def in_time_order(table: Any) -> bool:
    """Return whether a table or column of pandas is indexed by time."""
    return type(getattr(table, "index", None)).__name__ in CLOCKS
