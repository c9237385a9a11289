"""What a separability certificate claims, in sentences and witness arrays; issued after the checker has confirmed it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefit.checks import base
from surefit.checks.integers import vector
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.separation.columns import Responsible
from surefit.separation.decide import Decision
from surefit.separation.margin import MaximalMargin
from surefit.separation.reading import Labelled
from surefit.separation.signed_rows import SignedRows, as_witness

ABOUT = "these rows and labels"
SHOWN = 5  # names listed in a sentence


def claims_of(
    data: Labelled,
    rows: SignedRows,
    decision: Decision,
    margin: MaximalMargin | None,
    responsible: Responsible,
    radius: float,
) -> list[Claim]:
    """List the claims, the answer first."""
    if decision.status == "one class":
        sentence = f"All {len(rows.t)} rows have the label {data.classes[0]!r}: there is nothing to separate."
        return [_fact("separation.one_class", sentence, {})]
    listed = [*_answer(rows, decision), *_margin(margin)]
    if decision.status == "strict":
        sentence = f"No row is longer than R = {radius:.6g}."
        listed.append(Claim("separation.radius", "data_fact", sentence, value=radius, limit=radius, about=ABOUT))
    return listed + _columns(data, decision.status == "strict", responsible)


def confirmed(draft: Certificate, raw: base.Data) -> tuple[Certificate, str | None]:
    """Let the checker confirm each claim, and write down at which level it did; also the level of the answer itself."""
    verification = base.verify(draft, raw.X, raw.y)
    levels = {finding.name: finding.level for finding in verification.findings}
    graded = tuple(
        replace(claim, level=levels[claim.name]) if levels[claim.name] in ("exact", "enclosed") else claim
        for claim in draft.claims
    )
    answers = ("direction", "weak_direction", "farkas", "overlap", "one_class")
    deciding = {levels[name] for name in (f"separation.{short}" for short in answers) if name in levels}
    level = None if not deciding else "exact" if deciding == {"exact"} else "enclosed"
    return replace(draft, claims=graded, seal=""), level


def names_of(data: Labelled, columns: list[int]) -> list[str]:
    """Names of the columns, or their numbers."""
    return [f"column {j}" if data.names is None else repr(data.names[j]) for j in columns]


def _answer(rows: SignedRows, decision: Decision) -> list[Claim]:
    n, listed = len(rows.t), []
    if decision.status == "strict":
        sentence = f"A hyperplane has all {n} rows strictly on their side."
        listed.append(_fact("separation.direction", sentence, {"v": as_witness(decision.direction)}))
    if decision.status == "weak":
        strict = int(np.sum(rows.signs(decision.direction) > 0))
        sentence = f"A hyperplane has no row on the wrong side and {strict} of {n} rows strictly on their own."
        witness = {"v": as_witness(decision.direction)}
        listed.append(_fact("separation.weak_direction", sentence, witness, {"strict": strict}))
    if decision.rows is not None:
        witness = {"rows": np.array(decision.rows, dtype=np.int64)}
        if decision.weights is not None:
            witness["weights"] = as_witness(decision.weights)
        sentence = f"No hyperplane has all rows strictly on their side: {len(decision.rows)} rows rule it out."
        listed.append(_fact("separation.farkas", sentence, dict(witness)))
        if decision.status == "overlap":
            if decision.null is not None:
                witness["null"] = _lines([as_witness(v) for v in decision.null])
            sentence = "No hyperplane separates even weakly, so logistic regression has a finite estimate."
            listed.append(_fact("separation.overlap", sentence, witness))
    if decision.status in ("undecided", "not strict"):
        open_question = "weak separation" if decision.rows is not None else "separation"
        sentence = f"Whether there is {open_question} was not decided: a proof would exceed the limits of size or time."
        claim = Claim("separation.undecided", "no_claim", sentence, limit=0.0, about=ABOUT)
        listed.append(claim)
    return listed


def _margin(margin: MaximalMargin | None) -> list[Claim]:
    if margin is None:
        return []
    bracket = margin.bracket
    support = np.flatnonzero(bracket.alpha)
    return [
        Claim(
            "separation.margin_bracket",
            "data_fact",
            f"The widest margin of a hyperplane is between {bracket.low:.9g} and {bracket.up:.9g}.",
            value=bracket.width,
            about=ABOUT,
            numbers={"low": bracket.low, "up": bracket.up},
            witness={"w": bracket.w, "b": np.array([bracket.b]), "rows": support, "alpha": bracket.alpha[support]},
        )
    ]


def _columns(data: Labelled, strict: bool, found: Responsible) -> list[Claim]:
    listed = []
    if found.strict or found.weak:
        alone = [f"{_some(data, found.strict)} alone separates strictly"] if found.strict else []
        alone += [f"{_some(data, found.weak)} alone separates weakly"] if found.weak else []
        witness = {"strict": np.array(found.strict, dtype=np.int64), "weak": np.array(found.weak, dtype=np.int64)}
        listed.append(_fact("separation.columns", "; ".join(alone) + ".", witness))
    if found.direction is not None and len(found.together) > 1:
        kind = "strictly" if strict else "weakly"
        sentence = f"{_some(data, found.together)} together separate {kind}."
        witness = {"columns": np.array(found.together, dtype=np.int64), "v": as_witness(found.direction)}
        listed.append(_fact("separation.column_set", sentence, witness, {"strict": strict}))
    return listed


def _some(data: Labelled, columns: list[int]) -> str:
    names = names_of(data, columns[:SHOWN])
    more = f" and {len(columns) - SHOWN} more" if len(columns) > SHOWN else ""
    return ", ".join(names) + more


def _lines(vectors: list[np.ndarray]) -> np.ndarray:
    """Stack witness vectors; one text among them makes all of them text."""
    if all(v.dtype.kind == "f" for v in vectors):
        return np.array(vectors)
    return np.array([[str(entry) for entry in vector(v)] for v in vectors])


def _fact(name: str, sentence: str, witness: dict[str, np.ndarray], numbers: dict | None = None) -> Claim:
    """State that nothing (no row, no dimension, no column) contradicts the sentence."""
    numbers = numbers or {}
    return Claim(name, "data_fact", sentence, value=0.0, limit=0.0, about=ABOUT, numbers=numbers, witness=witness)
