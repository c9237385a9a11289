"""States claims by asking the checker what it can prove of a model as read."""

from __future__ import annotations

import math
from dataclasses import replace

from surefit.checks.audited_delegates import PREFIX
from surefit.checks.base import CHECKERS, Data, Finding
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


def proved(draft: Certificate, rows: Data, name: str, numbers: dict | None = None) -> Finding:
    """Return what the checker of ``name`` finds about the model, whatever it is."""
    open_claim = Claim(PREFIX + name, "optimality", "", value=math.inf, numbers=numbers or {})
    return CHECKERS[open_claim.name](replace(draft, claims=(open_claim,), seal=""), open_claim, rows)


def claim(name: str, kind: str, words: str, value: float, **more) -> Claim:
    """Return a claim that a checker of our own families judges."""
    return Claim(PREFIX + name, kind, words, value=float(value), **more)
