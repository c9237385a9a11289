"""Record of every fit of a program: its place, estimator, time and certificate."""

from __future__ import annotations

import inspect
import re
import sys
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from types import FunctionType
from typing import Any, NamedTuple

from surefit.core.tables import html_table, number, text_table
from surefit.sklearn.importing import is_users

HEADER = ("where", "estimator", "fits", "certified gap", "could still change", "risk", "seconds")
_INSIDE: ContextVar[bool] = ContextVar("inside a fit", default=False)


class Fit(NamedTuple):
    """One fit, or several fits of one estimator at one place, summarized by the worst fit."""

    where: str
    estimator: str
    fits: int
    seconds: float
    gap: float | None = None
    limit: float | None = None
    missed: int = 0  # fits whose gap is above its limit
    change: str = ""
    risk: str = ""

    def cells(self) -> tuple[str, ...]:
        """Return the row of the table."""
        gap = number(self.gap) or "not stated"
        if self.missed:
            gap = f"{gap} > {number(self.limit)}"
        return (
            self.where,
            self.estimator,
            str(self.fits),
            gap,
            self.change or "not stated",
            self.risk or "none",
            f"{self.seconds:.3g}",
        )

    def joined(self, other: Fit) -> Fit:
        """Return both fits as one row; gap, change and risk are those of the worse fit."""
        worse = max((self, other), key=lambda fit: (fit.missed > 0, -1.0 if fit.gap is None else fit.gap))
        return worse._replace(
            fits=self.fits + other.fits, seconds=self.seconds + other.seconds, missed=self.missed + other.missed
        )


class Fits:
    """The fits of a program; ``certificate(model, X, y, sample_weight)`` returns a certificate or a reason for none."""

    def __init__(self, certificate: Callable[..., Any], title: str):
        self.certificate, self.title = certificate, title
        self.rows: dict[tuple[str, str], Fit] = {}
        self._watched: dict[tuple[type, str], Any] = {}

    def watch(self, kind: type) -> None:
        """Record every later fit of a class."""
        for name in ("fit", "partial_fit"):
            method = inspect.getattr_static(kind, name, None)
            if isinstance(method, FunctionType) and (kind, name) not in self._watched:
                self._watched[kind, name] = kind.__dict__.get(name)
                setattr(kind, name, self._noting(method))

    def end(self) -> None:
        """Restore the original classes."""
        for (kind, name), method in self._watched.items():
            if method is None:
                delattr(kind, name)
            else:
                setattr(kind, name, method)
        self._watched.clear()

    def _noting(self, method: Any) -> Any:
        @wraps(method)
        def fit(model: Any, *args: Any, **kwargs: Any) -> Any:
            if _INSIDE.get():
                return method(model, *args, **kwargs)
            token, start = _INSIDE.set(True), time.perf_counter()
            try:
                fitted = method(model, *args, **kwargs)
                seconds = time.perf_counter() - start
                given = inspect.signature(method).bind(model, *args, **kwargs).arguments
                self._add(model, seconds, given)
            finally:
                _INSIDE.reset(token)
            return fitted

        return fit

    def _add(self, model: Any, seconds: float, given: dict[str, Any]) -> None:
        proved = self.certificate(model, *(given.get(name) for name in ("X", "y", "sample_weight")))
        fit = Fit(place(), type(model).__name__, 1, seconds)
        fit = fit._replace(risk=proved) if isinstance(proved, str) else summarized(fit, proved)
        key = fit.where, fit.estimator
        self.rows[key] = self.rows[key].joined(fit) if key in self.rows else fit

    @property
    def missed(self) -> int:
        """Number of fits that missed their optimum by more than their tolerance."""
        return sum(fit.missed for fit in self.rows.values())

    def _parts(self) -> tuple[str, tuple[str, ...], list[tuple[str, ...]], str]:
        total = sum(fit.fits for fit in self.rows.values())
        foot = f"{total} fit{'' if total == 1 else 's'}; {self.missed} missed the optimum by more than the tolerance."
        if any(fit.fits > 1 for fit in self.rows.values()):
            foot += " Several fits at one place are one row: the worst of them, and their seconds together."
        return self.title, HEADER, [fit.cells() for fit in self.rows.values()], foot

    def __str__(self) -> str:
        return text_table(*self._parts())

    def _repr_html_(self) -> str:
        return html_table(*self._parts())


def summarized(fit: Fit, certificate: Any) -> Fit:
    """Return a fit with the numbers of its certificate."""
    for claim in certificate.claims:
        if claim.name.endswith("distance") and claim.value is not None and not fit.change:
            fit = fit._replace(change=f"by {number(claim.value)}")
        elif claim.kind == "optimality" and fit.gap is None and (claim.limit is not None or "gap" in claim.name):
            fit = fit._replace(gap=claim.value, limit=claim.limit, missed=int(claim.holds is False))
        elif claim.kind == "uncertainty" and not fit.change:
            labels = claim.name.endswith("labels")
            rows = certificate.data.get("n_rows", "?")
            fit = fit._replace(change=f"{claim.value:.0f} of {rows} labels" if labels else f"by {number(claim.value)}")
        elif claim.kind == "risk_bound" and not fit.risk:
            empty = " (vacuous)" if "vacuous" in claim.statement else ""
            fit = fit._replace(risk=f"at most {number(claim.value)}{empty}")
    return fit


def place() -> str:
    """Return the file and line of the user's code in the call stack."""
    frame = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if is_users(name) and frame.f_globals.get("__name__", "").partition(".")[0] not in ("surefit", "sklearn"):
            return f"{shown(name)}:{frame.f_lineno}"
        frame = frame.f_back  # type: ignore[assignment]
    return "?"


def shown(name: str) -> str:
    """Return a file name for display, without folders; a cell of IPython is ``In [n]``."""
    cell = re.fullmatch(r"<ipython-input-(\d+)-\w+>", name)
    return f"In [{cell[1]}]" if cell else Path(name).name
