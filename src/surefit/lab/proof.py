"""The verified certificate of the current frame's model, as HTML."""

from __future__ import annotations

import time
from html import escape
from typing import Any, NamedTuple

from surefit.core.errors import SurefitError
from surefit.core.tables import number
from surefit.lab.palette import MARKER_LETTERS
from surefit.lab.scene import Frame, Scene

#: Word of the verdict -> (symbol, style class). Other words are shown as they are.
SYMBOLS = {
    "holds": ("✓", "good"),
    "proved": ("✓", "good"),
    "does not hold": ("○", "open"),
    "undecided": ("?", "open"),
    "stated": ("✓", "good"),
    "estimate": ("≈", "estimate"),
    "vacuous": ("∅", "open"),
    "no claim": ("-", "none"),
    "note": ("·", "none"),
}
WORDS = {"does not hold": "not reached yet", "stated": "proved", "no claim": "not claimed"}


class Verdict(NamedTuple):
    """Findings of the independent checker about the model of a frame."""

    ok: bool
    text: str


def verify(frame: Frame) -> Verdict | None:
    """Verify every claim of the frame's model by the checker; return None if the frame has no model."""
    if frame.model is None:
        return None
    start = time.perf_counter()
    try:
        frame.model.verify(frame.X) if frame.y is None else frame.model.verify(frame.X, frame.y)
    except SurefitError as error:
        return Verdict(False, str(error))
    milliseconds = 1e3 * (time.perf_counter() - start)
    return Verdict(True, f"The independent checker re-derived every claim from the points in {milliseconds:.0f} ms.")


def proof_html(scene: Scene, frame: Frame, verdict: Verdict | None) -> str:
    """Return the panel: facts of the current frame, claims with their numbers, and findings of the checker."""
    parts = [_line(fact.verdict, fact.text) for fact in frame.facts]
    if frame.model is not None:
        certificate = frame.model.certificate_
        name = escape(type(frame.model).__name__)
        parts.append(f"<h3>Certificate of {name}, grade {escape(str(certificate.grade))}</h3>")
        parts += [_claim(claim) for claim in certificate.claims]
    if verdict is not None:
        parts.append(_checker(verdict))
    if scene.theory:
        parts.append(
            f"<p class='theory'><a href='theory/{scene.theory}' target='_blank'>The theorem, with its proof</a></p>"
        )
    return f"<div class='proof'>{''.join(parts)}</div>"


def _claim(claim: Any) -> str:
    """Return one claim as HTML, using only fields that every claim has."""
    text = claim.statement
    vacuous = "vacuous" in text.lower()
    verdict = "vacuous" if vacuous else claim.verdict
    figures = []
    if claim.value == claim.value:  # not NaN
        figures.append(f"value {number(claim.value)}")
    if claim.limit is not None:
        figures.append(f"limit {number(claim.limit)}")
    return _line(verdict, text, claim.name, ", ".join(figures))


def _line(verdict: str, text: str, name: str = "", figures: str = "") -> str:
    symbol, style = SYMBOLS.get(verdict, ("·", "none"))
    word = WORDS.get(verdict, verdict)
    foot = " · ".join(part for part in (name, figures) if part)
    small = f"<small>{escape(foot)}</small>" if foot else ""
    label = "" if verdict == "note" else f"<b>{escape(word)}</b> "
    return f"<div class='claim {style}'><span class='mark' aria-hidden='true'>{symbol}</span><div>{label}{escape(text)}{small}</div></div>"


def _checker(verdict: Verdict) -> str:
    style = "good" if verdict.ok else "bad"
    word = "Verified." if verdict.ok else "Refused."
    return f"<p class='checker {style}'><b>{word}</b> {escape(verdict.text)}</p>"


def legend_html(legend: list[tuple[str, str, str]]) -> str:
    """Return the legend: a line for each curve, and a marker, a spot or a ring for other marks."""

    def swatch(color: str, kind: str) -> str:
        if kind == "spot":
            return f"<i class='spot' style='background:{color}'></i>"
        if kind in MARKER_LETTERS:
            return f"<i class='letter' style='color:{color}'>{MARKER_LETTERS[kind]}</i>"
        if kind == "ring":
            return f"<i class='spot' style='border:2px solid {color}'></i>"
        return f"<i style='border-top:3px {kind} {color}'></i>"

    spans = "".join(f"<span class='entry'>{swatch(color, kind)}{escape(label)}</span>" for label, color, kind in legend)
    return f"<div class='legend'>{spans}</div>"
