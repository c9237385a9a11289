"""Catalog of claims: the meaning of each claim name, as text and as a rule for comparing numbers.

A certificate stores numbers only. The sentence, the kind, the assumptions and the side of a bound come from the entry
registered under the claim's name, next to the checker that re-derives it. A certificate therefore cannot carry text of
its own, and the documentation generates its table of claims from this catalog.
"""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from surefit.core.errors import CertificateError

#: Kinds of claims. ``estimate`` and ``no_claim`` prove nothing, and their statements say so.
KINDS = (
    "optimality",
    "stationarity",
    "feasibility",
    "data_fact",
    "process_fact",
    "risk_bound",
    "uncertainty",
    "estimate",
    "no_claim",
)

#: Direction of a value: ``upper`` and ``lower`` are bounds, ``exact`` is a count or a stored number, ``digits`` is a
#: number that is correct to six significant digits, ``none`` is a sentence without a number.
SIDES = ("upper", "lower", "exact", "digits", "none")

GRADE_OF_KIND = {"optimality": "A", "stationarity": "B"}


@dataclass(frozen=True, eq=False)
class Entry:
    """Entry of the catalog.

    Parameters
    ----------
    name : str
        Dotted name of the claim.
    kind : str
        One of ``KINDS``.
    side : str
        One of ``SIDES``.
    says : str or callable
        The sentence: a format string over ``value``, ``limit`` and the claim's numbers, or a function of the claim.
    theory : str
        Anchor of the theory page that proves the statement.
    low, high : float
        Smallest and largest valid value; other values raise an error.
    infinite : bool
        Whether an infinite upper bound (a vacuous statement) may be stated.
    assumptions : tuple of str or callable
        Assumptions on the data, or a function of the claim that returns them.
    about : str or callable
        Object that the statement is about.
    check : callable or None
        ``check(certificate, claim, data) -> Proof``; None only for statements without a number.
    partitioned : bool
        Whether the checker also reads rows in partitions.
    """

    name: str
    kind: str
    side: str
    says: str | Callable[[Any], str]
    theory: str = ""
    low: float = 0.0
    high: float = math.inf
    infinite: bool = False
    assumptions: tuple[str, ...] | Callable[[Any], tuple[str, ...]] = ()
    about: str | Callable[[Any], str] = "this fitted model"
    check: Callable[..., Any] | None = None
    partitioned: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS or self.side not in SIDES:
            raise ValueError(f"{self.name}: kind must be one of {KINDS} and side one of {SIDES}.")
        if self.check is None and self.side != "none":
            raise ValueError(f"{self.name}: a claim with a number needs a checker.")

    @property
    def grade(self) -> str:
        """Grade that the claim contributes to a certificate."""
        return GRADE_OF_KIND.get(self.kind, "C")

    def statement(self, claim: Any) -> str:
        """Return the sentence with the numbers of ``claim`` filled in."""
        if not isinstance(self.says, str):
            return self.says(claim)
        return self.says.format(value=claim.value, limit=claim.limit, **claim.numbers)

    def admits(self, value: float) -> bool:
        """Return whether ``value`` is valid for this claim."""
        if self.side == "none":
            return value != value
        return self.low <= value <= self.high and (self.infinite or math.isfinite(value))


CATALOG: dict[str, Entry] = {}
#: By prefix: function that converts an entry for surefit's models to one for models of other libraries.
VIEWS: dict[str, Callable[[Entry], Entry]] = {}


def register(entry: Entry) -> Entry:
    """Add ``entry`` to the catalog; a name can be registered only once."""
    if CATALOG.setdefault(entry.name, entry) is not entry:
        raise ValueError(f"The claim {entry.name!r} is registered twice.")
    return entry


def known(name: str) -> bool:
    """Return whether the catalog has an entry called ``name``."""
    return _found(name) is not None


def entry(name: str) -> Entry:
    """Return the entry called ``name``; raise ``CertificateError`` if there is none."""
    found = CATALOG.get(name) if type(name) is str else None
    found = _found(name) if found is None else found
    if found is None:
        raise CertificateError(f"There is no checker for the claim {name!r}; it cannot be verified.", claim=str(name))
    return found


def loaded() -> dict[str, Entry]:
    """Return the whole catalog."""
    _load("")
    return CATALOG


def _found(name: str) -> Entry | None:
    if not isinstance(name, str):
        return None
    for part in (name, ""):  # all checkers, if those that may know the claim do not
        if name not in CATALOG:
            _load(part)
    if name in CATALOG:
        return CATALOG[name]
    for prefix, view in VIEWS.items():
        if name.startswith(prefix) and name.removeprefix(prefix) in CATALOG:
            return view(CATALOG[name.removeprefix(prefix)])
    return None


def _load(name: str) -> None:
    # The checkers register themselves when imported; importing the folder by name avoids a dependency of core on it. If another thread
    # imports it now, this waits for the end.
    importlib.import_module("surefit.checks").load(name)
