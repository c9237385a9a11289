"""A claim: one sentence about a fitted model, with the numbers that make it checkable."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

#: What a claim can be about. ``estimate`` and ``no_claim`` prove nothing and say so.
KINDS = (
    "optimality",
    "feasibility",
    "data_fact",
    "process_fact",
    "risk_bound",
    "uncertainty",
    "estimate",
    "no_claim",
)

#: How a number was obtained. Only ``enclosed`` (rounding accounted for) and ``exact`` (rationals) may be called verified.
LEVELS = ("computed", "recomputed", "enclosed", "exact")


@dataclass(frozen=True, eq=False)
class Claim:
    """One statement of a certificate.

    Parameters
    ----------
    name : str
        Dotted name under which ``surefit.checks`` knows how to re-derive the claim, e.g. ``"lasso.gap"``.
    kind : str
        One of ``KINDS``.
    statement : str
        One sentence a reader can quote, numbers filled in.
    value : float
        The number the statement is about. The checker re-derives it and refuses the claim if it finds a larger one.
    limit : float or None
        What ``value`` was asked to stay below; None if nothing was asked.
    holds : bool or None
        Whether ``value <= limit``; None where that could not be decided. Never silently True.
    about : str
        Which object the statement is about.
    assumptions : tuple of str
        What must be true of the world for the claim to mean something; empty for facts of arithmetic.
    confidence : float or None
        1 - delta for statistical claims, None for deterministic ones.
    numbers : dict
        Further numbers named in the statement.
    witness : dict of str to ndarray
        Arrays from which the claim can be re-derived (a dual point, a Farkas vector, a mistake log).
    level : str
        One of ``LEVELS``.

    Examples
    --------
    >>> from surefit.core.claims import Claim
    >>> claim = Claim("lasso.gap", "optimality", "P - min P <= 2e-07", value=2e-7, limit=1e-6)
    >>> claim.holds, claim.slack
    (True, 8e-07)
    """

    name: str
    kind: str
    statement: str
    value: float = float("nan")
    limit: float | None = None
    holds: bool | None = None
    about: str = "this fitted model"
    assumptions: tuple[str, ...] = ()
    confidence: float | None = None
    numbers: dict[str, Any] = field(default_factory=dict)
    witness: dict[str, np.ndarray] = field(default_factory=dict)
    level: str = "computed"

    def __post_init__(self):
        if self.kind not in KINDS:
            raise ValueError(f"Claim {self.name}: kind must be one of {', '.join(KINDS)}; got {self.kind!r}.")
        if self.level not in LEVELS:
            raise ValueError(f"Claim {self.name}: level must be one of {', '.join(LEVELS)}; got {self.level!r}.")
        if self.holds is None and self.limit is not None and not np.isnan(self.value):
            object.__setattr__(self, "holds", bool(self.value <= self.limit))

    @property
    def slack(self) -> float | None:
        """``limit - value``: what is left, or, when negative, what is missing."""
        return None if self.limit is None else self.limit - self.value

    @property
    def verdict(self) -> str:
        """One word for the table."""
        if self.kind in ("estimate", "no_claim"):
            return self.kind.replace("_", " ")
        if self.limit is None and self.holds is None:
            return "stated"
        return {True: "holds", False: "does not hold", None: "undecided"}[self.holds]
