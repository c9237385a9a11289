"""Proofs that wait for their first reader: what a fit on few numbers keeps until somebody asks for its certificate.

On 100 rows the checker needs more time than the solver, and most of such fits (in cross-validation, in searches) are never asked for their
certificate. The fit therefore keeps a copy of the rows, the model as it is, and the digests of all fitted attributes; the claims are proved
when the certificate is read, exactly as they would have been when the fit returned.
"""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any
from weakref import WeakSet

import numpy as np
from scipy import sparse

from surefit.core.certificate import UNSEALED, Certificate, grade_of
from surefit.core.claims import Claim
from surefit.core.errors import Invalidated
from surefit.core.fingerprint import remembered
from surefit.core.guards.extremes import extreme
from surefit.core.state import state_digests

#: Numbers of X up to which a proof waits: a copy is at most 400 kB. Beyond, the proof is a small share of the time of a fit.
FEW = 50_000
#: Proofs that wait at a time in one process, so that a list of models keeps at most 40 MB of rows.
WAITING = 100
FIXED = (type(None), str, bool, int, float, np.generic)  # parameters that nobody can change in place

_waiting: WeakSet[Pending] = WeakSet()


class Pending:
    """The draft of a certificate, with the digests of the model, and all that its proof reads."""

    def __init__(self, draft: Certificate, model: Any, sample: tuple[Any, ...]) -> None:
        self.draft = draft
        self.sample = tuple(None if part is None else part.copy() for part in sample)
        self.model = object.__new__(type(model))  # keeps its attributes when the fitted model gets others
        self.model.__dict__.update(model.__dict__)
        for name in ("_certificate", "_draft"):
            self.model.__dict__.pop(name, None)
        _waiting.add(self)

    def proved(self) -> Certificate:
        """Return the certificate; raise ``Invalidated`` if an array of the model was changed in place."""
        now = state_digests(self.model)
        for name, known in self.draft.state.items():
            if now.get(name) != known:
                raise Invalidated(
                    f"{self.draft.estimator}: {name} was changed after the fit; the certificate is no longer valid for this model."
                )
        return proved(self.draft, self.model, self.sample)


def may_wait(draft: Certificate, model: Any, sample: tuple[Any, ...] | None) -> bool:
    """Return whether the proof of ``draft`` can be made later: few numbers, none extreme, and parameters that cannot change in place."""
    if sample is None or extreme() or len(_waiting) >= WAITING or not all(map(_copyable, sample)):
        return False
    X = sample[0]
    return (X.nnz if sparse.issparse(X) else X.size) <= FEW and all(_fixed(getattr(model, key)) for key in draft.params)


@remembered()
def proved(draft: Certificate, model: Any, sample: tuple[Any, ...] | None) -> Certificate:
    """Return the certificate with the values that the checker proves about ``model``."""
    claims = stated(draft.of(model), sample) if unproved(draft) else draft.claims
    return replace(draft, grade=grade_of(claims), claims=claims, seal=UNSEALED)


def unproved(draft: Certificate) -> bool:
    """Return whether a claim leaves its value to the checker."""
    return any(claim.value != claim.value and claim.kind != "no_claim" for claim in draft.claims)


def stated(draft: Certificate, sample: tuple[Any, ...] | None) -> tuple[Claim, ...]:
    """Return the claims of a draft with the values that their checkers prove."""
    return importlib.import_module("surefit.checks").stated(draft, sample)


def _copyable(part: Any) -> bool:
    return part is None or sparse.issparse(part) or isinstance(part, np.ndarray)


def _fixed(value: Any) -> bool:
    return all(map(_fixed, value)) if isinstance(value, tuple) else isinstance(value, FIXED)
