"""Certificate of a fitted model: its claims, fingerprints of the data, and the evidence needed to check them."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field, fields
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from surefit.core import encoding, tables
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, Invalidated
from surefit.core.issuing.state import digest, digests_of_marks, mark_of
from surefit.core.sample import fingerprints_of


def grade_of(claims: tuple[Claim, ...]) -> str:
    """Return the grade of the strongest claim; ``verify`` compares it with the stored grade."""
    return min((claim.entry.grade for claim in claims), default="C")


#: Grade A: global optimality gap. B: measured stationarity. C: invariants only.
GRADES = {"A": "global optimality gap", "B": "measured stationarity", "C": "invariants only"}


class Late:
    """Digests of a certificate that are computed when they are first needed, once for all copies of it.

    ``marks`` are copies of the fitted attributes, and ``sample`` is a copy of the rows that nobody else has (None if the
    certificate contains their fingerprints), so the digests describe what was proved. ``content`` is a copy of the other
    fields, made when the certificate is first read, so the seal does not cover later changes.
    """

    def __init__(self, marks: dict[str, Any], sample: tuple[Any, ...] | None = None) -> None:
        self.marks = marks
        self.sample = sample
        self.content: dict[str, Any] = {}
        self.seal = ""

    @cached_property
    def state(self) -> dict[str, str]:
        """Digest of every fitted attribute."""
        return digests_of_marks(self.marks)

    @cached_property
    def data(self) -> dict[str, Any]:
        """Fingerprints of the rows."""
        assert self.sample is not None
        return fingerprints_of(self.sample)


@dataclass(frozen=True, eq=False)
class Certificate:
    """Claims about one fitted model, with everything an independent checker needs besides the data.

    Parameters
    ----------
    grade : {"A", "B", "C"}
        Grade of the strongest claim.
    estimator : str
        Name of the estimator.
    params : dict
        Its parameters, as JSON values.
    problem : dict
        The mathematical problem that was solved, as numbers and short strings that the checker reads.
    model : dict of str to ndarray
        Fitted attributes that the claims refer to (``coef_``, ``intercept_``, ...), by attribute name.
    data : dict of str to str
        Fingerprints of X, y and the sample weights, and the shape of X.
    claims : tuple of Claim
        The claims, most important first.
    state : dict of str to str
        Digest of every fitted attribute, so that any change is detected.
    run : dict
        Solver, passes, seconds and stopping reason. Reported by the fit, not verified.
    version : str
        Version of surefit that issued the certificate. Reported, not verified.
    seal : str
        Digest of all of the above, computed when it is first needed; it does not match an altered certificate.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Certificate, Lasso
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> certificate = Lasso(alpha=1 / 3).fit(X, y).certificate_
    >>> certificate.grade, certificate.holds, [claim.name for claim in certificate.claims][:2]
    ('A', True, ['linear.gap', 'linear.stability'])
    >>> again = Certificate.from_json(certificate.to_json())
    >>> again.verify(X, y)["linear.gap"].ok
    True
    """

    grade: str
    estimator: str
    params: dict[str, Any]
    problem: dict[str, Any]
    model: dict[str, np.ndarray]
    data: dict[str, Any]
    claims: tuple[Claim, ...]
    state: dict[str, str] = field(default_factory=dict)
    run: dict[str, Any] = field(default_factory=dict)
    version: str = ""
    seal: str = field(default_factory=str)
    subject: Any = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if self.grade not in GRADES:
            raise CertificateError(f"Certificate: grade must be one of {', '.join(GRADES)}; got {self.grade!r}.")
        if not self.seal:
            object.__setattr__(self, "seal", self._digest())

    @classmethod
    def issued(cls, late: Late, **content: Any) -> Certificate:
        """Return the certificate of a fit, whose digests are computed when they are first needed."""
        certificate = object.__new__(cls)
        certificate.__dict__.update(content, _late=late)
        return certificate

    def __getattr__(self, name: str) -> Any:
        late = self.__dict__.get("_late")
        if late is not None and name in ("state", "data"):
            return getattr(late, name)
        if late is not None and name == "seal":
            self.fix()
            content = late.content  # read before the seal: another thread drops it after it has stored the seal
            if not late.seal:
                late.seal = sha256(encoding.canonical(self._fixed(content))).hexdigest()
                late.content = {}
            return late.seal
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __getitem__(self, name: str) -> Claim:
        """Return the claim called ``name``."""
        for claim in self.claims:
            if claim.name == name:
                return claim
        raise KeyError(f"{name!r} is not a claim of this certificate; it has {[c.name for c in self.claims]}.")

    @property
    def holds(self) -> bool | None:
        """False if some claim fails, None if some claim is undecided, True otherwise."""
        verdicts = [claim.holds for claim in self.claims if claim.limit is not None or claim.holds is not None]
        return False if False in verdicts else None if None in verdicts else True

    @property
    def format(self) -> str:
        """Format in which :meth:`to_json` writes this certificate; ``version`` is the version of surefit that issued it."""
        return encoding.SCHEMA_NAME

    def covers(self, name: str) -> bool:
        """Return whether ``state`` has a digest of the fitted attribute ``name``."""
        late = self.__dict__.get("_late")
        return name in (self.state if late is None else late.marks)

    def confirms(self, name: str, value: Any) -> bool:
        """Return whether ``value`` has the digest of the fitted attribute ``name`` in ``state``; equal marks have equal digests."""
        late = self.__dict__.get("_late")
        if late is not None and "state" not in late.__dict__ and late.marks.get(name) == mark_of(value):
            return True
        return self.state.get(name) == digest(value)

    # --- checking -----------------------------------------------------------------------------------------------------

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None, model: Any = None, *, offset: Any = None) -> Any:
        """Re-derive every claim from the data, independently of the solver.

        Parameters
        ----------
        X, y, sample_weight
            The training data, as passed to ``fit``.
        model : estimator, optional
            The model to compare with; by default the one whose ``certificate_`` this is, if any.
        offset : array of shape (n_rows,), optional
            Known part of the scores, for models whose ``fit`` was given one.

        Returns
        -------
        Verification
            One finding per claim: what was claimed, what was proved, and the level of rigor.

        Raises
        ------
        Invalidated
            If the data, the model or the certificate differs from what was certified.
        CertificateError
            If a claim is false; the message names the claim and the excess.
        """
        # The checkers register themselves; importing them by name avoids a dependency of core on them.
        checks = importlib.import_module("surefit.checks")
        model = self.subject if model is None else model
        numbers = getattr(type(model), "_certified_rows", None)  # models of text tables are certified on codes
        if numbers is not None:
            try:
                X = numbers(model, X)
            except (AttributeError, ArithmeticError, LookupError, TypeError, ValueError) as error:
                why = next(iter(str(error).splitlines()), "").rstrip(".")
                raise Invalidated(
                    f"{self.estimator}: the model cannot read these rows ({why}); pass the rows of the fit and the fitted model."
                ) from None
        return checks.verify(self, X, y, sample_weight=sample_weight, model=model, offset=offset)

    def fix(self) -> None:
        """Seal a large certificate; keep a copy of a small one, whose seal is computed when it is first needed."""
        late = self.__dict__.get("_late")
        if late is None or late.seal or late.content:
            return
        try:
            late.content = encoding.copied({name: self.__dict__[name] for name in SEALED if name in self.__dict__})
        except TypeError:  # an object that cannot be copied, or a large one
            late.seal = self._digest()

    def _fixed(self, content: dict[str, Any]) -> dict[str, Any]:
        """Return the content that was kept, with the digests of the copies."""
        late = self._late
        data = {} if late.sample is None else {"data": fingerprints_of(late.sample)}
        return {**content, **data, "state": digests_of_marks(late.marks)}

    def require_intact(self) -> None:
        """Raise ``Invalidated`` if any part was changed after the certificate was issued."""
        if self._digest() != self.seal:
            raise Invalidated(
                f"{self.estimator}: this certificate was altered after it was issued (its seal does not match); "
                "fit again to get a new one."
            )

    def of(self, subject: Any) -> Certificate:
        """Return this certificate, bound to the model whose attributes ``verify`` compares."""
        return self._with(subject=subject)

    def stating(self, claims: tuple[Claim, ...]) -> Certificate:
        """Return this certificate, not yet sealed, with other claims and their grade, bound to no model."""
        return self._with(
            grade=grade_of(claims), claims=claims, subject=None, _late=Late(self._late.marks, self._late.sample)
        )

    def _with(self, **changes: Any) -> Certificate:
        """Return a copy with other values; unlike ``dataclasses.replace``, it does not go over all fields."""
        copy = object.__new__(type(self))
        copy.__dict__.update(self.__dict__, **changes)
        return copy

    def _digest(self) -> str:
        content = {name: getattr(self, name) for name in SEALED}
        return sha256(encoding.canonical(content)).hexdigest()

    # --- reading and writing ------------------------------------------------------------------------------------------

    def to_json(self, indent: int | None = None) -> str:
        """Return the certificate as JSON text (schema: ``surefit.core.encoding.SCHEMA``); floats are preserved bit for bit."""
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "subject"}
        return json.dumps(encoding.encode({"schema": encoding.SCHEMA_NAME, **content}), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate written by :meth:`to_json`; raise ``Invalidated`` if it was altered."""
        content = encoding.decode_certificate(text)
        certificate = cls(**content)
        certificate.require_intact()
        return certificate

    def __repr__(self) -> str:
        return tables.certificate_text(self)

    def _repr_html_(self) -> str:
        return tables.certificate_html(self)

    def __getstate__(self) -> dict[str, Any]:
        content = {name: getattr(self, name) for name in SEALED}
        return {**content, "seal": self.seal, "subject": None}  # copies and files do not include the model

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


#: Fields that the seal covers.
SEALED = tuple(f.name for f in fields(Certificate) if f.name not in ("seal", "subject"))
