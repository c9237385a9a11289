"""Text and plain values of a study: the leaderboard, a paragraph about the winner, JSON, and a notebook view."""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.core.tables import digits, number
from surefit.core.text import counted

if TYPE_CHECKING:
    from surefit.studies.outcome import Study

STATES = {"done": "", "stopped": "stopped early", "not tried": "not tried", "left out": "left out", "failed": "failed"}
PERCENT = ("error", "f1", "auc", "brier")


def short(value: float, metric: str = "") -> str:
    """Return a score as text: four digits, or a dash."""
    if not np.isfinite(value):
        return "-"
    return f"{value:.4f}" if metric in PERCENT or metric == "r2" or metric == "log-loss" else digits(value)


def leaderboard_rows(entries: list[Any], winner: Any, metric: Any) -> list[dict[str, Any]]:
    """Return one dict per family, best first: its best candidate, score, standard error, seconds, gap and state."""
    scored = [entry for entry in entries if entry.best is not None]
    scored.sort(key=lambda entry: metric.loss(entry.best.score))
    rows = []
    for entry in [*scored, *(entry for entry in entries if entry.best is None)]:
        best = winner if entry.family.name == winner.family.name else entry.best
        values: dict[str, float | None] = {
            "score": None,
            "standard_error": None,
            "bound": None,
            "gap": None,
            "fit_seconds": None,
        }
        if best is not None:
            found = (best.score, best.standard_error, best.bound, best.gap, best.seconds)
            values = {key: float(v) if np.isfinite(v) else None for key, v in zip(values, found, strict=True)}
        rows.append(
            {
                "model": entry.family.title,
                "family": entry.family.name,
                "setting": best.candidate.label if best else "",
                **values,
                "tried": entry.tried,
                "planned": entry.planned,
                "state": state_words(entry),
                "winner": entry.family.name == winner.family.name,
            }
        )
    return rows


def winning_row(study: Study) -> dict[str, Any]:
    """Return the line of the winner."""
    return next(row for row in study.rows if row["winner"])


def state_words(entry: Any) -> str:
    """Return the state of a family as text."""
    words = STATES.get(entry.state, entry.state)
    some = f"{entry.tried} of {entry.planned} settings" if entry.best and entry.tried < entry.planned else ""
    return "; ".join(part for part in (words, some, entry.note) if part)


def winner_paragraph(study: Study) -> str:
    """Return a paragraph about the winner: its inputs, error, optimality gap, and caveats."""
    return " ".join(part for part in (_what(study), _how_wrong(study), _how_far(study), _distrust(study)) if part)


def _what(study: Study) -> str:
    model, record = study.model, study.model.record_
    columns = counted(len(model.encoder_.recipes_), "column")
    said = (
        f"The {record['title']} ({record['candidate']}) predicts {model.target_} from {columns} "
        f"({counted(len(model.encoder_.feature_names_), 'feature')}), fitted on {counted(record['rows'], 'row')}."
    )
    if record["family"] == "constant":
        said = f"No model was better than a constant, so the model always makes the same prediction ({record['candidate']})."
    if record["fitted_on"] == "fold":
        said += " It is a model of the comparison, because the final fit was interrupted."
    if study.threshold is not None:
        rare = study.model.classes_[int(np.argmin(np.bincount(study.part.y, minlength=2)))]
        said += f" It predicts {str(rare)!r} if its probability is above {study.threshold:.2f}."
    return said


def _how_wrong(study: Study) -> str:
    name, words = study.metric.name, study.metric.words
    if study.test is None:
        known = short(_or_nan(winning_row(study)["score"]), name)
        return (
            f"There is no test part, so nothing is known about new data beyond the cross-validated {words} of {known}."
        )
    value, error = study.test_scores[name]
    said = (
        f"On {counted(len(study.part.held), 'test row')} that were not used for model selection its {words} is {short(value, name)}"
        f"{f' ± {short(error, name)}' if np.isfinite(error) else ''}, against {short(study.baseline, name)} for a constant prediction."
    )
    return f"{said} {bound_sentence(study)}"


def bound_sentence(study: Study) -> str:
    """Return a sentence that states the bound on new data, with its assumption."""
    risk = study.risk_certificate
    if risk is None:
        return (
            "Rows in time order depend on each other, so no bound on new data is claimed." if study.options.time else ""
        )
    claim = risk.claims[0]
    units = "groups" if study.prepared.grouped else "rows"
    if claim.kind == "no_claim" or not np.isfinite(claim.value):
        return "The test part is too small to bound the error on new data."
    share = f"{100 * study.options.confidence:g} % confidence"
    if study.task == "classification":
        empty = " (a constant prediction is as good)" if claim.value >= claim.numbers.get("trivial", 1.0) else ""
        wrong = f"{100 * claim.value:.1f} % of the time{empty}"
        return f"On new {units} it is wrong at most {wrong}, with {share}, if {units} are independent draws."
    covered = 100 * claim.numbers.get("coverage", 0.9)
    what = (
        f"the mean error of a group is below {digits(claim.value)}"
        if study.prepared.grouped
        else f"it is off by less than {digits(claim.value)}"
    )
    return f"On new {units} {what} at least {covered:g} % of the time, with {share}, if {units} are independent draws."


def _how_far(study: Study) -> str:
    certificate = getattr(study.model.predictor_.estimator_, "certificate_", None)
    if certificate is None:
        return ""
    gaps = [c for c in certificate.claims if c.name.endswith("gap") and c.limit is not None]
    if not gaps:
        return "Its fit has no global optimum to compare with; the certificate states what was checked instead."
    gap = gaps[0]
    if gap.holds:
        return (
            f"Its fit is optimal up to a proved gap of {number(gap.value)} (at most {number(gap.limit)} was requested)."
        )
    asked = f"{number(gap.limit)} was requested; a larger --max-time reduces it"
    return f"Its fit stopped {number(gap.value)} above the optimum at most, {asked}."


def _distrust(study: Study) -> str:
    said = []
    if study.trouble is not None:
        said.append(f"A claim of its certificate could not be verified: {study.trouble}")
    suspects = [note for note in study.notes if "may leak the target" in note]
    said += suspects[:1]
    mine = winning_row(study)
    names = [
        row["model"] for row in study.rows
        if row["score"] is not None and not row["winner"] and row["family"] != "constant"
        and abs(row["score"] - mine["score"]) <= (mine["standard_error"] or 0.0)
    ]  # fmt: skip
    if names:
        shown = names[0] if len(names) == 1 else ", ".join(names[:-1]) + " and " + names[-1]
        said.append(f"Within one standard error of it: {shown}.")
    if study.stopped == "time":
        said.append(f"The time budget of {study.options.max_time:g} s was spent; {_untried(study)}")
    if study.stopped == "interrupted":
        said.append(f"The comparison was interrupted; {_untried(study)}")
    return " ".join(said)


def not_compared(rows: list[dict[str, Any]]) -> str:
    """Return a sentence that lists families without a score, with reasons; empty if all families have one."""
    found: dict[str, list[str]] = {}
    for row in rows:
        if row["score"] is None:
            found.setdefault(row["state"].removeprefix("left out; "), []).append(row["model"])
    said = "; ".join(f"{', '.join(names)} ({why})" for why, names in found.items())
    return f"Not compared: {said}." if said else ""


def _untried(study: Study) -> str:
    names = [row["model"] for row in study.rows if row["score"] is None and not row["state"].startswith("failed")]
    return f"not tried: {', '.join(names)}." if names else "every family was tried."


def column_rows(study: Study) -> list[dict[str, str]]:
    """Return the interpretation of each column, and the reason."""
    return [{"column": c.name, "taken for": c.kind, "why": c.why} for c in study.prepared.columns]


def as_plain(study: Study) -> dict[str, Any]:
    """Return the study as JSON-compatible values."""
    certificates = {name: json.loads(each.to_json()) for name, each in study.certificates.items()}
    return finite(
        {
            "task": study.task,
            "target": study.model.target_,
            "metric": study.metric.name,
            "select": study.options.select,
            "columns": column_rows(study),
            "leaderboard": study.rows,
            "winner": {
                key: study.model.record_[key]
                for key in ("family", "title", "candidate", "rows", "test_rows", "fitted_on")
            },
            "threshold": study.threshold,
            "test": {
                name: {"score": value, "standard_error": error} for name, (value, error) in study.test_scores.items()
            },
            "baseline": study.baseline,
            "summary": winner_paragraph(study),
            "findings": [finding._asdict() for finding in study.findings],
            "verified": study.trouble is None,
            "notes": list(study.notes),
            "stopped": study.stopped,
            "seconds": study.model.record_["seconds"],
            "certificates": certificates,
            "versions": study.model.record_["versions"],
        }
    )


def finite(value: Any) -> Any:
    """Return JSON-compatible values; numbers that are not finite become null."""
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [finite(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def _or_nan(value: float | None) -> float:
    return float("nan") if value is None else value


def as_text(study: Study) -> str:
    """Return the leaderboard and the winner as plain text."""
    from surefit.core.tables import text_table

    name = study.metric.name
    rows: list[tuple[str, ...]] = [
        (
            "*" if r["winner"] else "",
            r["model"],
            short(_or_nan(r["score"]), name),
            short(_or_nan(r["standard_error"]), name),
            r["state"],
        )
        for r in study.rows
    ]
    title = f"{study.task.capitalize()} of {study.model.target_}, {study.metric.words} by cross-validation"
    return text_table(title, ("", "model", "score", "± se", "state"), rows, winner_paragraph(study))


def as_html(study: Study) -> str:
    """Return the leaderboard and the winner as HTML for a notebook."""
    from surefit.core.tables import html_table

    name = study.metric.name
    rows: list[tuple[str, ...]] = [
        ("✓" if r["winner"] else "", r["model"], r["setting"], short(_or_nan(r["score"]), name), r["state"])
        for r in study.rows
    ]
    title = f"{study.task.capitalize()} of {study.model.target_}: {study.metric.words} by cross-validation"
    table = html_table(title, ("", "model", "setting", "score", "state"), rows)
    certificate = study.certificate._repr_html_() if study.certificate is not None else ""
    return f"<p>{escape(winner_paragraph(study))}</p>{table}{certificate}"
