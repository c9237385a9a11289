"""The one judge: decides whether what a checker proved implies what a claim says. No checker decides for itself.

A checker returns a :class:`Proof`; the catalog says on which side the claim's value errs. An upper bound is accepted if and only
if ``proved <= claimed``, a lower bound if and only if ``proved >= claimed``, a count if and only if both are equal, and so for
every further number of the claim. There is no slack.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from surefit.core.catalog import Entry, register
from surefit.core.claims import Claim

F = TypeVar("F", bound=Callable[..., Any])

#: A number stated "to six digits" differs from the proved one by at most this share of itself.
SIX_DIGITS = 5e-6
#: An evaluation elsewhere may differ by the rounding of both: a fit states what any of them can prove.
BOTH_ROUNDINGS = 2.5


class AtMost(NamedTuple):
    """A further number that is an upper bound."""

    value: float
    spread: float = 0.0


class AtLeast(NamedTuple):
    """A further number that is a lower bound."""

    value: float
    spread: float = 0.0


class Digits(NamedTuple):
    """A further number that is right to six significant digits."""

    value: float
    spread: float = 0.0


class Proof(NamedTuple):
    """The result of a checker about one claim, derived from parameters, fitted state and data.

    ``value`` is its own bound, rounding included; ``spread`` is the rounding in it, by which an evaluation on another machine
    may differ. ``numbers`` has one item for every number that the claim may carry: plain ones must be equal, the others are
    bounds. ``limit`` is what the parameters require (None: nothing), known up to ``limit_spread``.
    A ``refusal`` says why nothing could be derived.
    """

    value: float
    level: str = "enclosed"
    note: str = ""
    numbers: Mapping[str, Any] = {}
    limit: float | None = None
    spread: float = 0.0
    limit_spread: float = 0.0
    refusal: str = ""


def refused(why: str) -> Proof:
    """Return the proof of nothing: the claim cannot be re-derived, and ``why``."""
    return Proof(math.nan, "recomputed", refusal=why)


@dataclass(frozen=True)
class Finding:
    """Finding of the checker about one claim.

    ``proved`` is the checker's own bound on the claimed ``value`` (rounding included when ``level`` is ``enclosed``); ``ok`` says
    whether it implies the claim.
    """

    name: str
    claimed: float
    proved: float
    ok: bool
    level: str
    message: str

    @property
    def excess(self) -> float:
        """By how much the truth exceeds the claim, at least; zero if the claim is right."""
        return 0.0 if self.ok else abs(self.proved - self.claimed)


def claim(name: str, **entry: Any) -> Callable[[F], F]:
    """Register the decorated function as the checker of the claim ``name``; ``entry`` are the fields of the catalog entry."""

    def add(check: F) -> F:
        register(Entry(name, check=check, **entry))
        return check

    return add


def shared(find: F) -> F:
    """Let all claims about the same data share what ``find(certificate, data, ...)`` returns."""
    name = f"{find.__module__}.{find.__qualname__}"

    @wraps(find)
    def found(certificate: Any, data: Any, *more: Any) -> Any:
        key = (name, *more)
        if key not in data.memo:
            data.memo[key] = find(certificate, data, *more)
        return data.memo[key]

    return cast(F, found)


def no_claim(name: str, says: str, **entry: Any) -> None:
    """Register a sentence without a number that states what is not claimed."""
    register(Entry(name, kind="no_claim", side="none", says=says, **entry))


def judge(entry: Entry, stated: Claim, proof: Proof) -> Finding:
    """Accept ``stated`` if and only if ``proof`` implies every number in it."""
    trouble = proof.refusal or _trouble(entry, stated, proof)
    proved = proof.value
    if entry.side == "lower" and not trouble:
        proved = min(proved, stated.value)  # more than the claim was not requested
    if entry.side == "digits" and not trouble:
        proved = stated.value
    return Finding(
        stated.name, stated.value, proved, not trouble, proof.level, f"{trouble}." if trouble else proof.note
    )


def _trouble(entry: Entry, stated: Claim, proof: Proof) -> str:
    """Return why the claim does not follow; an empty text if it does."""
    if not entry.admits(stated.value):
        return f"{stated.value!r} is not a valid value of this claim"
    if entry.side != "none" and not _follows(entry.side, stated.value, proof.value, proof.spread):
        return f"{proof.value!r} was proved; it does not imply the stated {stated.value!r} ({entry.side})"
    if stated.limit is not None or proof.limit is not None:
        if stated.limit is None or proof.limit is None:
            return f"the limit is {proof.limit!r}, {stated.limit!r} was stated"
        stricter = stated.limit >= proof.limit if entry.side == "lower" else stated.limit <= proof.limit
        if not stricter:
            return f"the parameters require {proof.limit!r}, {stated.limit!r} was stated"
    if stated.numbers.keys() != proof.numbers.keys():
        odd = sorted(map(str, stated.numbers.keys() ^ proof.numbers.keys()))
        return f"the claim must not have the numbers {', '.join(odd)}"
    for name, bound in proof.numbers.items():
        if not _number_follows(stated.numbers[name], bound):
            return f"{name} is {_value_of(bound)!r}, {stated.numbers[name]!r} was stated"
    return ""


def _follows(side: str, stated: float, proved: float, spread: float) -> bool:
    if side == "upper":
        return bool(proved <= stated)
    if side == "lower":
        return bool(proved >= stated)
    if side == "exact":
        return bool(proved == stated)
    return bool(abs(proved - stated) + spread <= SIX_DIGITS * abs(stated)) or proved == stated


def _number_follows(stated: Any, bound: Any) -> bool:
    if isinstance(bound, (AtMost, AtLeast, Digits)):
        if isinstance(stated, bool) or not isinstance(stated, (int, float)):
            return False
        side = {AtMost: "upper", AtLeast: "lower", Digits: "digits"}[type(bound)]
        return _follows(side, stated, bound.value, bound.spread)
    if isinstance(bound, float) and isinstance(stated, (int, float)) and math.isnan(bound):
        return math.isnan(stated)
    return type(stated) is type(bound) and bool(np.all(stated == bound))


def _value_of(bound: Any) -> Any:
    return bound.value if isinstance(bound, (AtMost, AtLeast, Digits)) else bound


def statement_of(entry: Entry, asked: Claim, proof: Proof) -> Claim:
    """Fill in ``asked`` what ``proof`` allows to state: bounds give way by the rounding of two evaluations."""
    numbers = {name: _stated_number(bound) for name, bound in proof.numbers.items()}
    limit = None if proof.limit is None else _give_way(_stricter(entry.side), proof.limit, proof.limit_spread)
    return replace(asked, value=_give_way(entry.side, proof.value, proof.spread), limit=limit, numbers=numbers)


def _stricter(side: str) -> str:
    return "upper" if side == "lower" else "lower"


def _stated_number(bound: Any) -> Any:
    if isinstance(bound, AtMost):
        return _give_way("upper", bound.value, bound.spread)
    if isinstance(bound, AtLeast):
        return _give_way("lower", bound.value, bound.spread)
    return _value_of(bound)


def _give_way(side: str, value: float, spread: float) -> float:
    if side == "upper" and spread > 0:
        return math.nextafter(value + BOTH_ROUNDINGS * spread, math.inf)
    if side == "lower" and spread > 0:
        return math.nextafter(value - BOTH_ROUNDINGS * spread, -math.inf)
    return float(value)
