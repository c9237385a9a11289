"""Mutations of certificates and models: what a forger or an accident could change, one place at a time.

``python -m tests.reliability.mutations`` applies all of them to every public estimator and prints the counts.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from dataclasses import fields, replace
from functools import partial
from typing import Any
from unittest.mock import patch

import numpy as np
from tests.hard_data import hard_data
from tests.reliability.results import write
from tests.reliability.roster import Case, case, estimators, fitted, verify

from surefit.checks.judge import Proof, judge
from surefit.core.catalog import Entry, entry
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.issuing.state import digest

#: Parts that are printed as reported by the fit, not verified.
EXEMPT = ("run", "version", "subject", "seal")
#: Side of a further number of a claim by the type in which a checker returns it; plain ones must be equal.
SIDE_OF = {"AtMost": "upper", "AtLeast": "lower", "Digits": "digits"}


def of_value(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield other values of the same kind."""
    for how, other in _others(value):
        if digest(other) == digest(value):
            continue
        if isinstance(value, float) and (other == value or (value != value and other != other)):
            continue  # minus zero is zero
        yield how, other


def _others(value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, np.ndarray):
        yield from _of_array(value)
    elif isinstance(value, (bool, np.bool_)):
        yield "not", not value
    elif isinstance(value, (int, np.integer)):
        yield "plus one", int(value) + 1
        yield "negated", -int(value) - 1
    elif isinstance(value, (float, np.floating)):
        yield from ((name, part) for name, part in _of_float(float(value)) if not _same(part, value))
    elif isinstance(value, str):
        yield "longer", value + "x"
        yield "empty", ""
    elif isinstance(value, (list, tuple)) and len(value):
        yield "reversed", type(value)(reversed(value)) if type(value) in (list, tuple) else list(reversed(value))
        yield "shorter", value[1:] if type(value) in (list, tuple) else list(value)[1:]
    elif isinstance(value, dict) and value:
        yield "without the first", dict(list(value.items())[1:])
    elif value is None:
        yield "a number", 0.5


def _of_float(value: float) -> Iterator[tuple[str, float]]:
    yield "negated", -value
    yield "halved", value / 2
    yield "a little less", value * (1 - 1e-9) if value else -1e-9
    yield "a little more", value * (1 + 1e-9) if value else 1e-9
    yield "zero", 0.0
    yield "NaN", math.nan
    yield "minus infinity", -math.inf


def _of_array(array: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    found: list[tuple[str, Any]] = [("reversed", array[::-1].copy() if array.ndim else array)]
    if array.dtype.kind in "fi" and array.size:
        found += [("negated", -array), ("zero", np.zeros_like(array)), ("rolled", np.roll(array, 1))]
        one = array.copy()
        one.flat[0] += 1
        found.append(("one entry", one))
    if array.dtype.kind == "f" and array.size:
        broken = array.copy()
        broken.flat[-1] = math.nan
        found += [("scaled", array * 1.01), ("NaN", broken)]
    if array.dtype.kind == "b" and array.size:
        found.append(("not", ~array))
    if array.ndim and len(array) > 1:
        found.append(("shorter", array[:-1].copy()))
    yield from ((name, part) for name, part in found if not _same(part, array))


def _same(a: Any, b: Any) -> bool:
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")  # minus zero is zero


def of_certificate(certificate: Any) -> Iterator[tuple[str, Any, bool]]:
    """Yield (what was changed, the resealed certificate, whether it may be accepted if it follows from what is proved)."""
    for field in fields(certificate):
        if field.name in EXEMPT or field.name == "claims":
            continue
        value = getattr(certificate, field.name)
        if field.name == "grade":
            yield from ((f"grade {g}", replace(certificate, grade=g, seal=""), False) for g in "ABC" if g != value)
            continue
        parts = value.items() if isinstance(value, dict) else [(None, value)]
        for key, part in parts:
            for how, other in of_value(part):
                whole = other if key is None else {**value, key: other}
                yield f"{field.name} {key or ''} {how}", replace(certificate, **{field.name: whole}, seal=""), False
    for i, claim in enumerate(certificate.claims):
        for what, other, may_pass in of_claim(claim):
            claims = (*certificate.claims[:i], other, *certificate.claims[i + 1 :])
            yield f"{claim.name} {what}", replace(certificate, claims=claims, seal=""), may_pass


def of_claim(claim: Claim) -> Iterator[tuple[str, Claim, bool]]:
    """Yield changed claims, and whether they may be accepted: a weaker value, a stricter limit, another witness."""
    exact = entry(claim.name).side == "exact"
    for how, value in of_value(float(claim.value)):
        yield f"value {how}", replace(claim, value=value), not exact and math.isfinite(value)
    for how, limit in of_value(claim.limit):
        yield f"limit {how}", replace(claim, limit=limit), claim.limit is not None
    for name, number in claim.numbers.items():
        for how, other in of_value(number):
            bound = isinstance(number, float) and isinstance(other, float)  # its side is told by the checker
            yield f"number {name} {how}", replace(claim, numbers={**claim.numbers, name: other}), bound
    for name, array in claim.witness.items():
        for how, other in of_value(array):
            yield f"witness {name} {how}", replace(claim, witness={**claim.witness, name: other}), True


def of_model(model: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield (what was changed, attribute, other value) for parameters and fitted attributes."""
    state = model.__getstate__()
    for name, value in state.items():
        if name == "_certificate" or str(name).startswith(("_sklearn", "_callback")):
            continue
        for how, other in of_value(value):
            yield f"{name} {how}", name, other


def wrongly_accepted(check: Callable[[], Any], may_pass: bool) -> bool:
    """Whether ``check()`` verifies what it must not; anything but a CertificateError is a fault of the checker.

    A change that may pass (a weaker bound, another witness) must still follow from what the checkers proved, by the rule written here.
    """
    seen: list[tuple[Entry, Claim, Proof]] = []

    def spy(about: Entry, stated: Claim, proof: Proof) -> Any:
        seen.append((about, stated, proof))
        return judge(about, stated, proof)

    with patch("surefit.checks.base.judge", spy):
        try:
            check()
        except CertificateError:
            return False
    return not may_pass or not all(implied(*parts) for parts in seen)


def implied(about: Entry, stated: Claim, proof: Proof) -> bool:
    """Whether every number that the claim displays follows from the proof; written without the judge."""
    if about.side == "none":
        return stated.value != stated.value
    inside = about.low <= stated.value <= about.high and (about.infinite or math.isfinite(stated.value))
    turned = about.side == "lower"
    limits = (stated.limit, proof.limit)
    in_limit = limits == (None, None) or (
        None not in limits and (limits[0] >= limits[1] if turned else limits[0] <= limits[1])
    )
    numbers = set(stated.numbers) == set(proof.numbers)
    for name, bound in proof.numbers.items():
        side = SIDE_OF.get(type(bound).__name__, "exact")
        numbers = numbers and _covers(side, stated.numbers[name], bound.value if side != "exact" else bound)
    return bool(inside and in_limit and numbers and _covers(about.side, stated.value, proof.value))


def _covers(side: str, stated: Any, proved: Any) -> bool:
    if side == "exact":
        return type(stated) is type(proved) and _same(stated, proved)
    if side == "digits":
        return bool(stated == proved or abs(stated - proved) <= 5.0001e-6 * abs(stated))
    return bool(proved <= stated if side == "upper" else proved >= stated)


def attack(found: Case) -> Iterator[tuple[str, bool]]:
    """Yield every mutation of a fitted case with whether it was accepted although it must not be."""
    certificate = found.model.certificate_
    for what, other, may_pass in of_certificate(certificate):
        forged = other.of(found.model)
        yield f"certificate: {what}", wrongly_accepted(partial(verify, forged, found), may_pass)
    for what, name, other in of_model(found.model):
        kept = found.model.__dict__[name]
        found.model.__dict__[name] = other
        try:
            yield f"model: {what}", wrongly_accepted(partial(verify, certificate, found), False)
        finally:
            found.model.__dict__[name] = kept


def main() -> int:
    """Apply all mutations to every estimator on three data sets."""
    tried = refused = 0
    for data in [part for part in hard_data() if part.name in ("plain", "mixed scales", "text labels")]:
        for cls in estimators():
            found = case(cls, data)
            if found is None or fitted(found) is None:
                continue
            for what, bad in attack(found):
                tried += 1
                refused += not bad
                if bad:
                    print(f"ACCEPTED {cls.__name__} on {data.name}: {what}")
    print(f"{tried} mutations, {tried - refused} accepted")
    write("mutations", "changed certificates and models that verify must refuse", tried, tried - refused)
    return int(tried != refused)


if __name__ == "__main__":
    sys.exit(main())
