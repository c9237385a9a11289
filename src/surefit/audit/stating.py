"""Claims with the values that their checkers prove about a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from surefit.checks.audits.views import PREFIX
from surefit.checks.judge import Proof, statement_of
from surefit.core import catalog
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.sample import Data

State = Callable[[Certificate, Data], list[Claim]]


def asking(*names: str, if_proved: tuple[str, ...] = (), witness: dict | None = None) -> State:
    """Return a function that states these claims about a draft; those in ``if_proved`` are stated only if proved."""

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        found = [
            stated(draft, rows, name, witness) for name in names if name not in if_proved or proved(draft, rows, name)
        ]
        return found

    return state


def stated(draft: Certificate, rows: Data, name: str, witness: dict | None = None) -> Claim:
    """Return the claim ``audit.<name>`` about the model, with the numbers that its checker proves."""
    asked = Claim(PREFIX + name, witness=witness or {})
    entry = catalog.entry(asked.name)
    if entry.check is None:
        return asked
    proof = _proof(draft, rows, asked, entry)
    if proof.refusal:
        raise InvalidData(f"certify: {proof.refusal}.")
    return statement_of(entry, asked, proof)


def proved(draft: Certificate, rows: Data, name: str) -> bool:
    """Return whether the checker of ``audit.<name>`` proves a finite value for the model."""
    asked = Claim(PREFIX + name)
    entry = catalog.entry(asked.name)
    proof = Proof(0.0) if entry.check is None else _proof(draft, rows, asked, entry)
    return not proof.refusal and math.isfinite(proof.value)


def _proof(draft: Certificate, rows: Data, asked: Claim, entry: catalog.Entry) -> Proof:
    assert entry.check is not None
    with_witness = draft if draft.claims else replace(draft, claims=(asked,), seal="")
    return entry.check(with_witness, asked, rows)
