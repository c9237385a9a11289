"""Completion of draft certificates at the end of the fit or, for small data, when the certificate is first read.

On 100 rows the checker needs more time than the solver, and the certificates of most such fits (in cross-validation and
searches) are never read. The fit therefore keeps a copy of the rows, the model, and copies or digests of all fitted
attributes. The claims are proved when the certificate is read, with the same result as at the end of the fit.

For the user this moves the time of the proof, and a warning about it, from ``fit`` to the first use of the certificate,
and it needs memory: at most 4 MB per model until then, and at most 40 MB in one process. Fits beyond these limits are
proved before they return.
"""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np

from surefit._version import __version__
from surefit.core.certificate import Certificate, Late
from surefit.core.claims import Claim
from surefit.core.encoding import COPIED
from surefit.core.errors import Invalidated
from surefit.core.fingerprint import remembering
from surefit.core.guards.extremes import extreme
from surefit.core.issuing.new_rows import with_word_on_new_rows
from surefit.core.issuing.parameters import plain
from surefit.core.issuing.state import dense, fitted_state, marks_of
from surefit.core.sample import fingerprints_of
from surefit.core.storage import is_sparse

#: Size of the rows in bytes up to which a proof is deferred.
LARGEST_COPY = 4_000_000
#: Largest size of all copies in one process, so that a list of models keeps at most 40 MB of rows.
ALL_COPIES = 40_000_000
#: Largest number of deferred proofs in one process.
WAITING = 100
FIXED = (type(None), str, bool, int, float, np.generic)  # types of parameters that cannot be changed in place

_waiting: dict[int, int] = {}  # size of the copies of each draft that waits, by its id


class Draft(NamedTuple):
    """Content of a certificate as provided by ``fit``; claims without a value get the value that their checker proves."""

    grade: str
    claims: list[Claim]
    problem: dict[str, Any] | tuple[str, ...]
    model: tuple[str, ...]
    data: dict[str, Any] | None
    sample: tuple[Any, ...] | None
    run: dict[str, Any]


class Pending:
    """Draft whose proof is deferred, with marks of the model's state and copies of everything the proof reads."""

    def __init__(self, draft: Draft, model: Any) -> None:
        assert draft.sample is not None
        self.draft = draft._replace(sample=tuple(map(_copied, draft.sample)))
        self.fitted = fitted_state(model)
        self.marks = marks_of(self.fitted)
        self.model = object.__new__(type(model))  # keeps these attributes if the fitted model gets new ones
        self.model.__dict__.update(model.__dict__)
        del self.model._certificate
        _waiting[id(self)] = _size(draft.sample)

    def __del__(self) -> None:
        if _waiting is not None:  # Python sets names of modules to None when it ends
            _waiting.pop(id(self), None)

    def certificate(self) -> Certificate:
        """Return the certificate; raise ``Invalidated`` if an array of the model was changed in place."""
        now = marks_of(self._fitted_now())
        for name, known in self.marks.items():
            if now.get(name) != known:
                raise Invalidated(
                    f"{type(self.model).__name__}: {name} was changed after the fit; the certificate is no longer valid for this model."
                )
        return proved(self.draft, self.model, now, self.draft.sample)

    def _fitted_now(self) -> dict[str, Any]:
        """Return the fitted attributes, read again if some are computed from the state of the model."""
        held = self.model.__dict__
        own = all(value is held.get(name) for name, value in self.fitted.items())
        return self.fitted if own else fitted_state(self.model)


def may_wait(draft: Draft, model: Any) -> bool:
    """Return whether the proof can be deferred: small data without extreme numbers, and immutable parameters."""
    if draft.sample is None or extreme() or len(_waiting) >= WAITING or not all(map(_copyable, draft.sample)):
        return False
    size = _size(draft.sample)
    if size > LARGEST_COPY or size + sum(_waiting.values()) > ALL_COPIES:
        return False
    return all(_fixed(getattr(model, name)) for name in model._get_param_names())


@remembering
def proved(
    draft: Draft, model: Any, marks: dict[str, Any] | None = None, own: tuple[Any, ...] | None = None
) -> Certificate:
    """Return the certificate of ``model``, with the values that the checker proves; ``marks`` are those of its attributes, if known.

    A certificate about few rows keeps a copy of them, ``own`` if there is one, and computes their fingerprints when they are first needed.
    """
    kept = _kept(draft, own)
    recountable = draft.sample is not None and "coef_" in draft.model
    content = {
        "grade": draft.grade,
        "estimator": type(model).__name__,
        "params": {key: plain(value) for key, value in model.get_params(deep=False).items()},
        "problem": _posed(draft, model),
        "model": {name: np.array(dense(getattr(model, name))) for name in draft.model},
        "claims": with_word_on_new_rows(model, draft.claims, recountable),
        "run": draft.run,
        "version": __version__,
        "subject": model,
    }
    if kept is None:
        content["data"] = fingerprints_of(draft.sample) if draft.data is None else draft.data  # type: ignore[arg-type]
    certificate = Certificate.issued(Late(marks_of(fitted_state(model)) if marks is None else marks, kept), **content)
    claims = certificate.claims
    if any(claim.value != claim.value and claim.kind != "no_claim" for claim in claims):
        claims = stated(certificate, draft.sample)
    return certificate.stating(claims)


def _kept(draft: Draft, own: tuple[Any, ...] | None) -> tuple[Any, ...] | None:
    """Return the copy of the rows that the certificate keeps: none of many rows, nor if many models already have copies."""
    sample = draft.sample
    if sample is None or draft.data is not None or not all(map(_copyable, sample)) or _size(sample) > COPIED:
        return None
    if own is not None:
        return own
    return tuple(map(_copied, sample)) if len(_waiting) < WAITING else None


def _posed(draft: Draft, model: Any) -> dict[str, Any]:
    """Return the problem given by ``fit``, or derive it from the parameters and rows."""
    if isinstance(draft.problem, dict):
        return draft.problem
    assert draft.sample is not None
    pose = importlib.import_module("surefit.problems").pose
    return pose(model, *draft.sample[:3], *draft.problem, kernel=model.__dict__.get("kernel_"))


def stated(certificate: Certificate, sample: tuple[Any, ...] | None) -> tuple[Claim, ...]:
    """Return the claims with the values that their checkers prove."""
    return importlib.import_module("surefit.checks").stated(certificate, sample)


def _copyable(part: Any) -> bool:
    return part is None or is_sparse(part) or isinstance(part, np.ndarray)


def _size(sample: tuple[Any, ...]) -> int:
    """Return the number of bytes of a copy of ``sample``."""
    parts = [part for part in sample if part is not None]
    return sum(part.data.nbytes + 8 * part.nnz if is_sparse(part) else part.nbytes for part in parts)


def _copied(part: Any) -> Any:
    """Return a copy with the same memory order, so that sums have the same rounding errors."""
    return part.copy(order="K") if isinstance(part, np.ndarray) else None if part is None else part.copy()


def _fixed(value: Any) -> bool:
    if type(value) in FIXED:
        return True
    return all(map(_fixed, value)) if isinstance(value, tuple) else isinstance(value, FIXED)
