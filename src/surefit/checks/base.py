"""The checker's frame: which checker re-derives which claim, what it found, and the order of verification."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import check_array

from surefit.core import tables
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, Invalidated
from surefit.core.estimator import data_fingerprint, plain
from surefit.core.fingerprint import fingerprint
from surefit.core.validation import read_strings


class Data(NamedTuple):
    """Training data as the checker reads it."""

    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    memo: dict  # what several claims about the same data share
    given: Any = None  # X as it was passed to verify: models that look at column names need it

    @property
    def target(self) -> np.ndarray:
        """The target, where the claim is about one."""
        if self.y is None:
            raise CertificateError("This certificate is about a target; pass y to verify.")
        return self.y


@dataclass(frozen=True)
class Finding:
    """What the checker found about one claim.

    ``proved`` is the checker's own bound on the claimed ``value`` (rounding included when ``level`` is ``enclosed``);
    ``ok`` says whether the claim is consistent with it.
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
        return 0.0 if self.ok else self.proved - self.claimed


@dataclass(frozen=True)
class Verification:
    """The findings about a certificate, all of them in favour (else ``verify`` raises)."""

    certificate: Certificate
    findings: tuple[Finding, ...]

    def __getitem__(self, name: str) -> Finding:
        """Return the finding about the claim called ``name``."""
        return next(finding for finding in self.findings if finding.name == name)

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self):
        title = f"Verification of {self.certificate.estimator}: every claim was re-derived from the data"
        header = ("claim", "claimed", "proved", "level", "finding")
        rows = [(f.name, tables.number(f.claimed), tables.number(f.proved), f.level, f.message) for f in self.findings]
        return title, header, rows, "enclosed: rounding errors are accounted for; exact: rational arithmetic."


Checker = Callable[[Certificate, Claim, Data], Finding]
CHECKERS: dict[str, Checker] = {}


def checker(*names: str) -> Callable[[Checker], Checker]:
    """Register the function that re-derives the claims called ``names``."""

    def add(function: Checker) -> Checker:
        CHECKERS.update(dict.fromkeys(names, function))
        return function

    return add


def verify(certificate: Certificate, X, y=None, *, sample_weight=None, model=None) -> Verification:
    """Re-derive every claim of ``certificate`` from the data; see :meth:`surefit.core.certificate.Certificate.verify`."""
    certificate.require_intact()
    if model is not None:
        _require_same_model(certificate, model)
        certificate = certificate.of(model)  # claims about predictions ask the model for them
    strings = certificate.data.get("elements") == "strings"
    # Models of one variable take it without columns; texts stay a list, for pipelines that read them.
    one_column = not strings and certificate.data.get("n_columns") == 1 and np.ndim(X) == 1
    if one_column and np.asarray(X).dtype.kind in "biuf":
        X = np.asarray(X).reshape(-1, 1)
    data = _as_fitted(certificate, read(X, y, sample_weight, strings=strings))
    _require_same_data(certificate, data)
    findings = tuple(_find(certificate, claim, data) for claim in certificate.claims)
    for finding in findings:
        if not finding.ok:
            raise CertificateError(
                f"{certificate.estimator}: claim {finding.name!r} does not hold: claimed {finding.claimed:.6g}, found "
                f"{finding.proved:.6g} ({finding.excess:.3g} too much). {finding.message}",
                claim=finding.name,
                excess=finding.excess,
            )
    return Verification(certificate, findings)


def read(X, y=None, sample_weight=None, *, strings: bool = False) -> Data:
    """Read data as ``fit`` does, without deciding anything: numbers become float64, float32 stays.

    ``strings``: the sample is a list of strings, for a kernel of strings.
    """
    given, X = X, read_strings("verify", X) if strings else _as_matrix(X)
    if y is not None:
        y = np.asarray(y)
        y = y.astype(np.float64) if y.dtype.kind in "biuf" else y
        y = y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, dtype=np.float64)
        sample_weight = np.full(X.shape[0], float(sample_weight)) if sample_weight.ndim == 0 else sample_weight
    return Data(X, y, sample_weight, {}, given)


def _as_matrix(X):
    """Numbers as floats; tables with texts (which only a pipeline can use) as objects, so that they have a fingerprint."""
    try:
        return check_array(X, accept_sparse=["csc", "csr"], dtype=[np.float64, np.float32], ensure_all_finite=False)
    except (TypeError, ValueError):
        table = np.asarray(X)
        if table.dtype.kind not in "OUS" or table.ndim not in (1, 2):
            raise
        return table.astype(object).reshape(len(table), -1)


def _find(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    if claim.kind in ("estimate", "no_claim"):
        return Finding(claim.name, claim.value, claim.value, True, "stated", f"{claim.kind}: nothing to prove.")
    try:
        check = CHECKERS[claim.name]
    except KeyError:
        raise CertificateError(
            f"No checker knows the claim {claim.name!r}; it cannot be verified.", claim.name
        ) from None
    return check(certificate, claim, data)


def _require_same_model(certificate: Certificate, model) -> None:
    who = certificate.estimator
    if type(model).__name__ != who:
        raise Invalidated(f"{who}: the certificate is about a {who}, the model is a {type(model).__name__}.")
    for name, certified in certificate.model.items():
        current = np.asarray(getattr(model, name, np.nan))
        if current.shape != certified.shape or not np.array_equal(
            current, certified, equal_nan=current.dtype.kind == "f"
        ):
            raise Invalidated(
                f"{who}: {name} was changed after the fit; the certificate is not about this model any more."
            )
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}  # any predictor can be certified
    for name, value in params.items():
        now, then = plain(value), certificate.params.get(name)
        if now != then and not (now != now and then != then):  # not a number, then and now, is no change
            raise Invalidated(f"{who}: parameter {name} is {now!r} now and was {then!r} when fitted; fit again.")


def _as_fitted(certificate: Certificate, data: Data) -> Data:
    """Return rows in float64 where the fit turned float32 into that: the same numbers."""
    if getattr(data.X, "dtype", None) == np.float32 and fingerprint(data.X) != certificate.data.get("X"):
        return data._replace(X=data.X.astype(np.float64))
    return data


def _require_same_data(certificate: Certificate, data: Data) -> None:
    found = data_fingerprint(data.X, data.y, data.weights)
    for name, words in (("X", "X"), ("y", "y"), ("sample_weight", "the sample weights")):
        if certificate.data.get(name) != found[name]:
            shape = f"{found['n_rows']} x {found['n_columns']}"
            certified = f"{certificate.data.get('n_rows')} x {certificate.data.get('n_columns')}"
            raise Invalidated(
                f"{certificate.estimator}: {words} differ from what the model was fitted on (fingerprint); "
                f"here X is {shape}, certified was {certified}. Verify with the training data, in the same order and dtype."
            )
