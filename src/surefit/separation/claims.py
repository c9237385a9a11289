"""Claims of a separability certificate: names and witness arrays, issued after the checker has confirmed them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefit.core.certificate import Certificate, grade_of
from surefit.core.claims import Claim
from surefit.core.integers import vector
from surefit.core.issuing.drafts import stated
from surefit.separation.columns import Responsible
from surefit.separation.decide import Decision
from surefit.separation.margin import MaximalMargin
from surefit.separation.signed_rows import SignedRows, as_witness


def claims_of(
    rows: SignedRows, decision: Decision, margin: MaximalMargin | None, responsible: Responsible
) -> list[Claim]:
    """Return the claims, starting with the one that proves the status."""
    if decision.status == "one class":
        return [Claim("separation.one_class")]
    listed = [*_answer(decision), *_margin(margin)]
    if decision.status == "strict":
        listed.append(Claim("separation.radius"))
    return listed + _columns(responsible)


def confirmed(draft: Certificate, raw) -> tuple[Certificate, str | None]:
    """Return the certificate confirmed by the checker, and the level of proof of the status."""
    claims = stated(draft, (raw.X, raw.y, None))
    certificate = replace(draft, grade=grade_of(claims), claims=claims, seal="")
    levels = {finding.name: finding.level for finding in certificate.verify(raw.X, raw.y).findings}
    answers = ("direction", "weak_direction", "farkas", "overlap", "one_class")
    deciding = {levels[name] for name in (f"separation.{short}" for short in answers) if name in levels}
    return certificate, None if not deciding else "exact" if deciding == {"exact"} else "enclosed"


def _answer(decision: Decision) -> list[Claim]:
    listed = []
    if decision.status in ("strict", "weak"):
        name = "separation.direction" if decision.status == "strict" else "separation.weak_direction"
        listed.append(Claim(name, witness={"v": as_witness(decision.direction)}))
    if decision.rows is not None:
        witness = {"rows": np.array(decision.rows, dtype=np.int64)}
        if decision.weights is not None:
            witness["weights"] = as_witness(decision.weights)
        listed.append(Claim("separation.farkas", witness=dict(witness)))
        if decision.status == "overlap":
            if decision.null is not None:
                witness["null"] = _lines([as_witness(v) for v in decision.null])
            listed.append(Claim("separation.overlap", witness=witness))
    if decision.status in ("undecided", "not strict"):
        listed.append(Claim("separation.undecided"))
    return listed


def _margin(margin: MaximalMargin | None) -> list[Claim]:
    if margin is None:
        return []
    bracket = margin.bracket
    support = np.flatnonzero(bracket.alpha)
    witness = {"w": bracket.w, "b": np.array([bracket.b]), "rows": support, "alpha": bracket.alpha[support]}
    return [Claim("separation.margin_bracket", witness=witness)]


def _columns(found: Responsible) -> list[Claim]:
    listed = []
    if found.strict or found.weak:
        witness = {"strict": np.array(found.strict, dtype=np.int64), "weak": np.array(found.weak, dtype=np.int64)}
        listed.append(Claim("separation.columns", witness=witness))
    if found.direction is not None and len(found.together) > 1:
        witness = {"columns": np.array(found.together, dtype=np.int64), "v": as_witness(found.direction)}
        listed.append(Claim("separation.column_set", witness=witness))
    return listed


def _lines(vectors: list[np.ndarray]) -> np.ndarray:
    """Stack witness vectors; if one of them is text, all are converted to text."""
    if all(v.dtype.kind == "f" for v in vectors):
        return np.array(vectors)
    return np.array([[str(entry) for entry in vector(v)] for v in vectors])
