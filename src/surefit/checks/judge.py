"""Comparison of proofs with claims: decides whether the result of a checker implies the claim.

A checker returns a :class:`Proof`; the catalog states whether the claimed value is an upper bound, a lower bound, an
exact value or a value to six digits. An upper bound is accepted if and only if ``proved <= claimed``, a lower bound if
and only if ``proved >= claimed``, and an exact value if and only if both are equal. The same rules apply to every
further number of the claim.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np

from surefit.core.catalog import Entry, register
from surefit.core.claims import Claim

F = TypeVar("F", bound=Callable[..., Any])

#: Largest relative difference between a number stated "to six digits" and the proved one.
SIX_DIGITS = 5e-6
#: Multiple of the rounding error by which stated bounds are relaxed, so that every other evaluation confirms them.
BOTH_ROUNDINGS = 2.5


class AtMost(NamedTuple):
    """Additional number of a claim that is an upper bound."""

    value: float
    spread: float = 0.0


class AtLeast(NamedTuple):
    """Additional number of a claim that is a lower bound."""

    value: float
    spread: float = 0.0


class Digits(NamedTuple):
    """Additional number of a claim that is accurate to six significant digits."""

    value: float
    spread: float = 0.0


class Proof(NamedTuple):
    """Result of a checker for one claim, derived from the parameters, the fitted attributes and the data.

    ``value`` is the checker's bound, including rounding errors; ``spread`` is the rounding error by which an evaluation
    on another machine may differ. ``numbers`` has one item for every number of the claim: plain ones must be equal, the
    others are bounds. ``limit`` is the value that the parameters require (None: no limit), known up to
    ``limit_spread``. ``refusal`` states why nothing could be derived.
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
    """Return a proof with a refusal: the claim cannot be re-derived for the reason ``why``."""
    return Proof(math.nan, "recomputed", refusal=why)


@dataclass(frozen=True)
class Finding:
    """Result of verifying one claim.

    ``proved`` is the checker's own bound on the claimed ``value`` (including rounding if ``level`` is ``enclosed``);
    ``ok`` states whether it implies the claim.
    """

    name: str
    claimed: float
    proved: float
    ok: bool
    level: str
    message: str

    @property
    def excess(self) -> float:
        """Absolute difference between the proved and the claimed value; zero if the claim holds."""
        return 0.0 if self.ok else abs(self.proved - self.claimed)


def claim(name: str, **entry: Any) -> Callable[[F], F]:
    """Return a decorator that registers the checker of the claim ``name``; ``entry`` contains catalog fields."""

    def add(check: F) -> F:
        register(Entry(name, check=check, **entry))
        return check

    return add


def shared(find: F) -> F:
    """Cache the result of ``find(certificate, data, ...)`` for all claims about the same data."""
    name = _name_of(find)

    @wraps(find)
    def found(certificate: Any, data: Any, *more: Any) -> Any:
        key = (name, *more)
        if key not in data.memo:
            data.memo[key] = find(certificate, data, *more)
        return data.memo[key]

    return cast(F, found)


def recalled(find: Callable[..., Any], data: Any) -> Any:
    """Return the cached result of a :func:`shared` function, or None if no claim has needed it yet."""
    return data.memo.get((_name_of(find),))


def _name_of(find: Callable[..., Any]) -> str:
    return f"{find.__module__}.{find.__qualname__}"


def no_claim(name: str, says: str, **entry: Any) -> None:
    """Register a statement of what is not claimed."""
    register(Entry(name, kind="no_claim", side="none", says=says, **entry))


def judge(entry: Entry, stated: Claim, proof: Proof) -> Finding:
    """Accept ``stated`` if and only if ``proof`` implies all of its numbers."""
    trouble = proof.refusal or _trouble(entry, stated, proof)
    proved = proof.value
    if entry.side == "lower" and not trouble:
        proved = min(proved, stated.value)  # a lower bound above the claimed value is reported as the claimed value
    if entry.side == "digits" and not trouble:
        proved = stated.value
    return Finding(
        stated.name, stated.value, proved, not trouble, proof.level, f"{trouble}." if trouble else proof.note
    )


def _trouble(entry: Entry, stated: Claim, proof: Proof) -> str:
    """Return why the claim does not follow from the proof; an empty string if it does."""
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
        return f"the claim has missing or unexpected numbers: {', '.join(odd)}"
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
    """Return ``asked`` with the values of ``proof``, relaxed by the rounding errors of two evaluations."""
    numbers = {name: _stated_number(bound) for name, bound in proof.numbers.items()}
    limit = None if proof.limit is None else _give_way(_stricter(entry.side), proof.limit, proof.limit_spread)
    return Claim(asked.name, _give_way(entry.side, proof.value, proof.spread), limit, numbers, asked.witness)


def _stricter(side: str) -> str:
    return "upper" if side == "lower" else "lower"


def _stated_number(bound: Any) -> Any:
    kind = type(bound)
    if kind is AtMost:
        return _give_way("upper", bound.value, bound.spread)
    if kind is AtLeast:
        return _give_way("lower", bound.value, bound.spread)
    return bound.value if kind is Digits else bound


def _give_way(side: str, value: float, spread: float) -> float:
    if side == "upper" and spread > 0:
        return math.nextafter(value + BOTH_ROUNDINGS * spread, math.inf)
    if side == "lower" and spread > 0:
        return math.nextafter(value - BOTH_ROUNDINGS * spread, -math.inf)
    return float(value)
