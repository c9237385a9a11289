"""Signs in the data that a bound would be void: scaling by all rows, and rows in order of time."""

from __future__ import annotations

from typing import Any

from surefit.risk.units import sign_of_scaling

CLOCKS = ("DatetimeIndex", "PeriodIndex", "TimedeltaIndex")


def why_void(X: Any, y: Any = None, *, groups: Any = None, assume: tuple[str, ...] = ()) -> str | None:
    """Say why nothing can be claimed on these rows and what to do, or None."""
    scaled = None if "fixed_scaling" in assume else sign_of_scaling(X)
    if scaled is not None:
        return (
            f"{scaled}, so it was scaled with numbers taken from all rows, the tested ones included; put the scaler into a "
            "Pipeline, or declare assume=('fixed_scaling',) if the scaling was fixed beforehand"
        )
    if groups is None and "independent_times" not in assume and (in_time_order(X) or in_time_order(y)):
        return (
            "the rows are indexed by time, and rows near in time depend on each other; pass groups (days, runs), or declare "
            "assume=('independent_times',) if they do not"
        )
    return None


def in_time_order(table: Any) -> bool:
    """Whether a table or column of pandas is indexed by time."""
    return type(getattr(table, "index", None)).__name__ in CLOCKS
