"""A certificate: what a fitted model claims, about which data, and the evidence to check it."""

from __future__ import annotations

import importlib
import json
from dataclasses import dataclass, field, fields, replace
from hashlib import sha256
from typing import Any

import numpy as np

from surefit.core import encoding, tables
from surefit.core.claims import Claim
from surefit.core.errors import Invalidated

#: Grade A: global optimality gap. B: measured stationarity. C: invariants only.
GRADES = {"A": "global optimality gap", "B": "measured stationarity", "C": "invariants only"}


@dataclass(frozen=True, eq=False)
class Certificate:
    """Claims about one fitted model, with everything an independent checker needs besides the data.

    Parameters
    ----------
    grade : {"A", "B", "C"}
        Strength of the strongest claim the family can make.
    estimator : str
        Name of the estimator.
    params : dict
        Its parameters, as JSON values.
    problem : dict
        The mathematical problem that was solved, in the checker's words (numbers and short texts).
    model : dict of str to ndarray
        Fitted attributes that the claims speak of (``coef_``, ``intercept_``, ...), by attribute name.
    data : dict of str to str
        Fingerprints of X, y and the sample weights, and the shape of X.
    claims : tuple of Claim
        The claims, most important first.
    run : dict
        How the fit went: solver, passes, seconds, why it stopped.
    version : str
        Version of surefit that issued the certificate.
    seal : str
        Digest of all of the above; an altered certificate does not match it.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import Certificate, Lasso
    >>> X, y = np.array([[-1.0], [0.0], [1.0]]), np.array([-2.0, 0.0, 2.0])
    >>> certificate = Lasso(alpha=1 / 3).fit(X, y).certificate_
    >>> certificate.grade, certificate.holds, [claim.name for claim in certificate.claims][:2]
    ('A', True, ['penalised_squares.gap', 'penalised_squares.stability'])
    >>> again = Certificate.from_json(certificate.to_json())
    >>> again.verify(X, y)["penalised_squares.gap"].ok
    True
    """

    grade: str
    estimator: str
    params: dict[str, Any]
    problem: dict[str, Any]
    model: dict[str, np.ndarray]
    data: dict[str, Any]
    claims: tuple[Claim, ...]
    run: dict[str, Any] = field(default_factory=dict)
    version: str = ""
    seal: str = ""
    subject: Any = field(default=None, repr=False)

    def __post_init__(self):
        if self.grade not in GRADES:
            raise ValueError(f"Certificate: grade must be one of {', '.join(GRADES)}; got {self.grade!r}.")
        if not self.seal:
            object.__setattr__(self, "seal", self._digest())

    def __getitem__(self, name: str) -> Claim:
        """Return the claim called ``name``."""
        for claim in self.claims:
            if claim.name == name:
                return claim
        raise KeyError(f"{name!r} is not a claim of this certificate; it has {[c.name for c in self.claims]}.")

    @property
    def holds(self) -> bool | None:
        """False if some claim fails, None if some claim is undecided, else True."""
        verdicts = [claim.holds for claim in self.claims if claim.limit is not None or claim.holds is not None]
        return False if False in verdicts else None if None in verdicts else True

    # --- checking -----------------------------------------------------------------------------------------------------

    def verify(self, X, y=None, sample_weight=None, model=None):
        """Re-derive every claim from the data, independently of the solver.

        Parameters
        ----------
        X, y, sample_weight
            The training data, as they were given to ``fit``.
        model : estimator, optional
            The model to compare with; by default the one whose ``certificate_`` this is, if any.

        Returns
        -------
        Verification
            One finding a claim: what was claimed, what was proved, at which level of rigour.

        Raises
        ------
        Invalidated
            If the data, the model or the certificate is not the one that was certified.
        CertificateError
            If a claim turns out false; says which and by how much.
        """
        # The checker sits below core and registers itself; naming it here by text keeps core free of upward imports.
        checks = importlib.import_module("surefit.checks")
        return checks.verify(self, X, y, sample_weight=sample_weight, model=self.subject if model is None else model)

    def require_intact(self) -> None:
        """Raise ``Invalidated`` if any part was changed after the certificate was issued."""
        if self._digest() != self.seal:
            raise Invalidated(
                f"{self.estimator}: this certificate was altered after it was issued (its seal does not match); "
                "fit again to get a new one."
            )

    def of(self, subject) -> Certificate:
        """Return this certificate, bound to the model object whose attributes ``verify`` compares."""
        return replace(self, subject=subject)

    def _digest(self) -> str:
        skipped = ("seal", "subject")
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.name not in skipped}
        return sha256(encoding.canonical(content)).hexdigest()

    # --- reading and writing ------------------------------------------------------------------------------------------

    def to_json(self, indent: int | None = None) -> str:
        """Return the certificate as JSON text (schema: ``surefit.core.encoding.SCHEMA``); floats survive bit for bit."""
        content = {f.name: getattr(self, f.name) for f in fields(self) if f.name != "subject"}
        return json.dumps(encoding.encode({"schema": encoding.SCHEMA_NAME, **content}), indent=indent, allow_nan=False)

    @classmethod
    def from_json(cls, text: str) -> Certificate:
        """Read a certificate written by :meth:`to_json`; an altered one is refused."""
        content = encoding.decode_certificate(text)
        claims = tuple(Claim(**claim) for claim in content.pop("claims"))
        certificate = cls(claims=claims, **content)
        certificate.require_intact()
        return certificate

    def __repr__(self) -> str:
        return tables.certificate_text(self)

    def _repr_html_(self) -> str:
        return tables.certificate_html(self)

    def __getstate__(self) -> dict:
        return {**self.__dict__, "subject": None}  # a copy or a file never drags the model along

    def __setstate__(self, state: dict) -> None:
        self.__dict__.update(state)
