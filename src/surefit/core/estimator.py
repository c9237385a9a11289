"""What every estimator of surefit shares: a certificate, its verification, and the issue of both."""

from __future__ import annotations

import warnings
from hashlib import sha256
from typing import Any

import numpy as np

from surefit._version import __version__
from surefit.core import encoding
from surefit.core.budget import Reason
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning
from surefit.core.fingerprint import fingerprint

UNCLAIMED = "risk.unclaimed"
MEASURING = (
    "risk.",
    "conformal.",
    "selection.",
)  # claims of what tests models on rows kept apart: bounds, or why there is none
#: What to fit for a bound of the error on new rows, by the kind of predictor.
ASK_FOR_MORE = {
    "classifier": "surefit.Certified(model)",
    "regressor": "surefit.Certified(model, y_range=(low, high))",
}


class CertifiedMixin:
    """Adds ``certificate_`` and ``verify`` to an estimator; place it left of ``BaseEstimator``."""

    _certificate: Certificate
    _own_bound = ""  # what to ask of ``fit`` for a bound of the error on new rows, where it can give one

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the last fit, bound to this model."""
        try:
            return self.__dict__["_certificate"].of(self)
        except KeyError:
            raise AttributeError(f"{type(self).__name__} has no certificate yet; call fit first.") from None

    def verify(self, X, y=None, sample_weight=None):
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(X, y, sample_weight=sample_weight)

    def _issue(
        self,
        grade: str,
        claims: list[Claim],
        *,
        problem: dict[str, Any],
        model: tuple[str, ...],
        data: dict[str, Any],
        run: dict[str, Any] | None = None,
    ) -> None:
        """Store the certificate of this fit. ``model`` names the fitted attributes the claims speak of."""
        self._certificate = Certificate(
            grade=grade,
            estimator=type(self).__name__,
            params={key: plain(value) for key, value in self.get_params(deep=False).items()},  # type: ignore[attr-defined]
            problem=problem,
            model={name: np.asarray(getattr(self, name)).copy() for name in model},
            data=data,
            claims=with_word_on_new_rows(self, claims),
            run=run or {},
            version=__version__,
        )


def with_word_on_new_rows(estimator: Any, claims: list[Claim]) -> tuple[Claim, ...]:
    """Add that no limit of the error on new rows comes with the fit, where none does: the silence of a predictor misleads."""
    said = [claim for claim in claims if claim.name != UNCLAIMED]  # an earlier certificate of the same fit may have it
    kind = estimator.__sklearn_tags__().estimator_type
    if kind not in ASK_FOR_MORE or any(c.kind == "risk_bound" or c.name.startswith(MEASURING) for c in said):
        return tuple(said)
    but = " (an estimate is no bound)" if any(claim.kind == "estimate" for claim in said) else ""
    also = getattr(estimator, "_own_bound", "")
    words = f"No bound of the error on new rows comes with this fit{but}; {ASK_FOR_MORE[kind]} gives one"
    words += f", {also} a looser one." if also else "."
    return (*said, Claim(UNCLAIMED, "no_claim", words))


def plain(value: Any) -> Any:
    """Return a parameter as a JSON value; arrays and objects become short texts that identify them."""
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return f"array {fingerprint(value)}" if value.ndim else value.item()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    record = getattr(value, "to_record", None)  # kernels can write themselves down
    if record is not None and not isinstance(value, type):
        return f"{type(value).__name__} {sha256(encoding.canonical(record())).hexdigest()[:32]}"
    return type(value).__name__


def data_fingerprint(X, y=None, sample_weight=None) -> dict[str, Any]:
    """Fingerprints by which a certificate recognises its data; a sample without columns consists of strings."""
    strings = X.ndim == 1
    n_rows, n_columns = (len(X), 1) if strings else X.shape
    return {
        **({"elements": "strings"} if strings else {}),
        "X": fingerprint(X),
        "y": None if y is None else fingerprint(np.asarray(y)),
        "sample_weight": None if sample_weight is None else fingerprint(sample_weight),
        "n_rows": int(n_rows),
        "n_columns": int(n_columns),
    }


def warn_unless_converged(who: str, reason: Reason, gap: float, tolerance: float) -> None:
    """Warn with both sides of the inequality in the same units, and what to do."""
    if reason is not Reason.CONVERGED:
        warnings.warn(
            f"{who}: gap {gap:.2g} > {tolerance:.2g} wanted: {reason.sentence()}.", ConvergenceWarning, stacklevel=3
        )
