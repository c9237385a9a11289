"""Verification of certificates: the order of the checks, and the results of all checkers."""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numba.core.errors import NumbaError

from surefit._version import __version__
from surefit.checks.judge import Finding, Proof, judge, refused, statement_of
from surefit.core import catalog, tables
from surefit.core.certificate import Certificate, grade_of
from surefit.core.claims import Claim
from surefit.core.encoding import same
from surefit.core.errors import CertificateError, DataWarning, Invalidated
from surefit.core.fingerprint import data_fingerprint, fingerprint, remembering
from surefit.core.issuing.parameters import plain
from surefit.core.issuing.state import dense, digest, state_digests
from surefit.core.partitioned import PartitionedRows
from surefit.core.sample import Data, read, read_target, stored_as
from surefit.core.warn import warn
from surefit.problems import Given, derived

#: Prefixes of claims about models of other libraries and about new data, whose parameters are not interpreted.
EXTERNAL = ("audit.", "risk.")


@dataclass(frozen=True)
class Verification:
    """Findings about a certificate whose claims all hold (otherwise ``verify`` raises an error)."""

    certificate: Certificate
    findings: tuple[Finding, ...]
    checker: str = f"surefit {__version__}"  # not the version that issued the certificate

    def __getitem__(self, name: str) -> Finding:
        """Return the finding about the claim called ``name``."""
        return next(finding for finding in self.findings if finding.name == name)

    def __repr__(self) -> str:
        return tables.text_table(*self._parts())

    def _repr_html_(self) -> str:
        return tables.html_table(*self._parts())

    def _parts(self) -> tuple[Any, Any, Any, Any]:
        title = f"Verification of {self.certificate.estimator}: every claim was re-derived from the data"
        header = ("claim", "claimed", "proved", "level", "finding")
        rows = [(f.name, tables.number(f.claimed), tables.number(f.proved), f.level, f.message) for f in self.findings]
        return title, header, rows, "enclosed: rounding errors are accounted for; exact: rational arithmetic."


@remembering
def verify(
    certificate: Certificate,
    X: Any,
    y: Any = None,
    *,
    sample_weight: Any = None,
    model: Any = None,
    offset: Any = None,
) -> Verification:
    """Re-derive every claim of ``certificate`` from the data; see :meth:`surefit.core.certificate.Certificate.verify`."""
    certificate.require_intact()
    if certificate.grade != grade_of(certificate.claims):
        raise CertificateError(f"{certificate.estimator}: grade {certificate.grade} does not follow from the claims.")
    if model is not None:
        _require_same_model(certificate, model)
        certificate = certificate.of(model)  # claims about predictions need the model
    if certificate.data.get("y") is None:
        y = None  # the fit did not read a target, as in pipelines that pass one to every step
    strings = certificate.data.get("elements") == "strings"
    # Models of one variable accept a vector; texts stay a list, because pipelines read lists of texts.
    column = getattr(X, "ndim", 0) == 1 or (certificate.data.get("n_columns") == 1 and np.ndim(X) == 1)
    one_column = not strings and column
    if one_column and np.asarray(X).dtype.kind in "biufmM":
        X = np.asarray(X).reshape(-1, 1)
    data = _as_fitted(certificate, read(X, y, sample_weight, strings=strings, offset=offset))
    _require_same_data(certificate, data)
    data = data._replace(X=stored_as(certificate.data.get("storage"), data.X))
    if model is not None:
        _require_same_answers(certificate, model, X)
    _require_own_problem(certificate, data)
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


def stated(certificate: Certificate, sample: tuple[Any, ...] | None) -> tuple[Claim, ...]:
    """Fill in the values of claims that are left to the checker.

    A claim that cannot be proved is replaced by a statement that says so, with a warning. A missing proof never makes a
    fit fail.
    """
    X, y, weights, *more = sample or (None, None, None)
    data = Data(X, None if y is None else read_target(y), weights, {}, X, *more)
    claims: list[Claim] = []
    for claim in certificate.claims:
        entry = catalog.entry(claim.name)
        if claim.value != claim.value and entry.kind != "no_claim" and entry.check is not None:
            proof = _proof(entry, certificate, claim, data)
            stated = claim if proof.refusal else statement_of(entry, claim, proof)
            if not proof.refusal and entry.admits(stated.value):
                claim = stated
            else:
                reason = proof.refusal or f"its value would be {stated.value!r}"
                warn(f"{certificate.estimator}: the claim {claim.name} is not made: {reason}.", DataWarning)
                claim = Claim("fit.unproved")
        if claim.name != "fit.unproved" or all(other.name != "fit.unproved" for other in claims):
            claims.append(claim)
    return tuple(claims)


catalog.register(
    catalog.Entry(
        "fit.unproved",
        "no_claim",
        "none",
        "A claim that such fits usually make could not be proved here and is omitted.",
    )
)


def _find(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    entry = catalog.entry(claim.name)
    if entry.check is None:
        return judge(entry, claim, Proof(math.nan, "stated", f"{entry.kind}: nothing to prove."))
    return judge(entry, claim, _proof(entry, certificate, claim, data))


def _proof(entry: catalog.Entry, certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Run the checker; errors while reading the model or the witness of a certificate become refusals."""
    assert entry.check is not None
    if isinstance(data.X, PartitionedRows) and not entry.partitioned and entry.side != "none":
        return refused("this claim is verified with the rows in memory only")
    try:
        return entry.check(certificate, claim, data)
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError, NumbaError) as error:
        why = next(iter(str(error).splitlines()), "")  # compiler messages are long
        return refused(f"the checker cannot read the model or the witness ({type(error).__name__}: {why})")


def _require_own_problem(certificate: Certificate, data: Data) -> None:
    """Derive the problem from the parameters and compare it with the problem in the certificate."""
    model, who = certificate.subject, certificate.estimator
    if model is None:
        names = [claim.name for claim in certificate.claims if claim.kind != "no_claim"]
        external = any(name.startswith("audit.") for name in names) or all(name.startswith(EXTERNAL) for name in names)
    else:
        external = not any(base.__module__.startswith("surefit.") for base in type(model).__mro__)
    if external:
        return  # a model of another library may have the same class name
    params = model.get_params(deep=False) if hasattr(model, "get_params") else certificate.params
    given = Given(params, data.X, data.y, data.weights, certificate.model)
    try:
        own = derived(who, given, model)
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        raise Invalidated(f"{who}: the parameters do not define a problem ({type(error).__name__}: {error}).") from None
    stored = certificate.problem
    if own is not None and not same(own, stored):
        changed = [key for key in {**own, **stored} if own.get(key, own) is not stored.get(key)]
        words = ", ".join(key for key in changed if not same(own.get(key), stored.get(key)))
        raise Invalidated(f"{who}: the certificate's problem does not follow from the parameters ({words}).")


def _require_same_model(certificate: Certificate, model: Any) -> None:
    who = certificate.estimator
    if type(model).__name__ != who:
        raise Invalidated(f"{who}: the certificate is about a {who}, the model is a {type(model).__name__}.")
    for name, certified in certificate.model.items():
        current = np.asarray(dense(getattr(model, name, np.nan)))
        if current.shape != certified.shape or not np.array_equal(
            current, certified, equal_nan=current.dtype.kind == "f"
        ):
            raise Invalidated(
                f"{who}: {name} was changed after the fit; the certificate is no longer valid for this model."
            )
    params = model.get_params(deep=False) if hasattr(model, "get_params") else {}  # any predictor can be certified
    for name, value in params.items():
        now, then = plain(value), certificate.params.get(name)
        if digest(now) != digest(then):
            raise Invalidated(f"{who}: parameter {name} is {now!r} now and was {then!r} when fitted; fit again.")
    if certificate.state:
        digests = state_digests(model)
        for name, known in certificate.state.items():
            if digests.get(name) != known:
                raise Invalidated(
                    f"{who}: {name} was changed after the fit; the certificate is no longer valid for this model."
                )


def _require_same_answers(certificate: Certificate, model: Any, X: Any) -> None:
    """Check that the members reproduce the predictions recorded in the certificate."""
    again = getattr(type(model), "_answers_again", None)  # not an attribute that a file may set
    if again is None:
        return
    try:
        answers = again(model, certificate, X)
    except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
        why = next(iter(str(error).splitlines()), "").rstrip(".")
        raise Invalidated(f"{certificate.estimator}: the members cannot predict ({why}); fit again.") from None
    for claim in certificate.claims:
        for name in set(claim.witness) & set(answers):
            if not np.array_equal(claim.witness[name], answers[name]):
                raise Invalidated(
                    f"{certificate.estimator}: the members do not reproduce the recorded predictions; fit again."
                )


def _as_fitted(certificate: Certificate, data: Data) -> Data:
    """Return rows and targets as float64 if the fit converted float32 or objects to float64."""
    if getattr(data.X, "dtype", None) in (np.float32, object) and data_fingerprint(data.X)["X"] != certificate.data.get(
        "X"
    ):
        with suppress(TypeError, ValueError):  # texts
            data = data._replace(X=data.X.astype(np.float64))
    if data.y is not None and data.y.dtype == object and fingerprint(data.y) != certificate.data.get("y"):
        with suppress(TypeError, ValueError):  # labels
            data = data._replace(y=data.y.astype(np.float64))
    return data


def _require_same_data(certificate: Certificate, data: Data) -> None:
    found = data_fingerprint(data.X, data.y, data.weights, data.offset)
    if found == {name: value for name, value in certificate.data.items() if name != "storage"}:
        return
    for name, words in (("X", "X"), ("y", "y"), ("sample_weight", "the sample weights"), ("offset", "the offsets")):
        if certificate.data.get(name) != found.get(name):
            shape = f"{found['n_rows']} x {found['n_columns']}"
            certified = f"{certificate.data.get('n_rows')} x {certificate.data.get('n_columns')}"
            raise Invalidated(
                f"{certificate.estimator}: {words} differ from what the model was fitted on (fingerprint); "
                f"X is {shape}, the certified X is {certified}. Verify with the training data, in the same order and dtype."
            )
    raise Invalidated(f"{certificate.estimator}: the certificate does not describe the data that it was issued for.")
