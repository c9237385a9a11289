"""Texts of the report: cards, findings and comparison. The page itself contains only the layout."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

import numpy as np

from surefit.core.tables import digits
from surefit.core.text import counted
from surefit.studies.metrics import METRICS
from surefit.studies.words import bound_sentence, column_rows, not_compared, short, winner_paragraph

if TYPE_CHECKING:
    from surefit.studies.outcome import Study


def report_words(study: Study) -> dict[str, Any]:
    """Return all texts of the report about a study."""
    record = study.model.record_
    features = counted(len(study.model.encoder_.feature_names_), "feature")
    return {
        "rows": f"{counted(record['rows'], 'training row')}, {counted(record['test_rows'], 'test row')}, {features}",
        "cards": _cards(study),
        "summary": winner_paragraph(study),
        "scores": [
            {"words": _metric_words(study, name), "score": value, "error": error}
            for name, (value, error) in study.test_scores.items()
        ],
        "posterior": _posterior(study),
        "comparison": _compared(study),
        "leaderboard": [row for row in study.rows if row["score"] is not None],
        "not_compared": not_compared(study.rows),
        "columns": column_rows(study),
        "recipe": shlex.join(["surefit", "verify", record.get("saved_as", "model.surefit"), record.get("file", record["source"])]),
    }  # fmt: skip


def _metric_words(study: Study, name: str) -> str:
    words = study.metric.words if name == study.metric.name else METRICS[name].words
    return words[0].upper() + words[1:]


def _cards(study: Study) -> list[dict[str, str]]:
    cards = []
    name = study.metric.name
    if study.test is not None:
        value = study.test_scores[name][0]
        better = study.metric.loss(value) < study.metric.loss(study.baseline)
        cards.append(
            {
                "title": f"{_metric_words(study, name)} on {counted(len(study.part.held), 'test row')}",
                "value": short(value, name),
                "detail": f"{short(study.baseline, name)} for a constant prediction",
                "tone": "good" if better else "bad",
            }
        )
        cards.append(_bound_card(study))
    checked = sum(finding.level != "stated" for finding in study.findings)
    cards.append(
        {
            "title": "Independent check",
            "value": "verified" if study.trouble is None else "not verified",
            "detail": f"{counted(checked, 'claim')} re-derived from the data",
            "tone": "good" if study.trouble is None else "bad",
        }
    )
    return cards


def _bound_card(study: Study) -> dict[str, str]:
    risk = study.risk_certificate
    confidence = f"with {100 * study.options.confidence:g} % confidence"
    if risk is None or not np.isfinite(risk.claims[0].value):
        return {"title": "Bound on new data", "value": "none", "detail": bound_sentence(study), "tone": ""}
    claim = risk.claims[0]
    if study.task == "classification":
        empty = claim.value >= claim.numbers.get("trivial", 1.0)
        said = f"{confidence}{'; a constant prediction is as good' if empty else ''}"
        return {
            "title": "Wrong on new data",
            "value": f"≤ {100 * claim.value:.1f} %",
            "detail": said,
            "tone": "bad" if empty else "good",
        }
    share = 100 * claim.numbers.get("coverage", 0.9)
    title = "Mean error of a new group" if study.prepared.grouped else f"Error on {share:g} % of new rows"
    return {"title": title, "value": f"≤ {digits(claim.value)}", "detail": confidence, "tone": ""}


def _posterior(study: Study) -> str:
    said = []
    if study.test is not None:
        said.append(
            f"The {counted(len(study.part.held), 'test row')} were set aside ({study.split.words}) before anything was fitted, and were "
            "read once, for the winner."
        )
        said.append(bound_sentence(study))
    checked = sum(finding.level != "stated" for finding in study.findings)
    if study.trouble is None and checked:
        said.append(
            f"An independent checker re-derived {counted(checked, 'claim')} about the fit and its error from the rows themselves in "
            f"{study.verify_seconds:.2g} s."
        )
    if study.choice is not None:
        said.append(
            f"The model was chosen by its bound: {study.choice.claims[0].statement} (for the model fitted without the first held-out "
            f"part; {counted(study.model.record_['candidates'], 'candidate')} shared the failure probability)."
        )
    return " ".join(part for part in said if part)


def _compared(study: Study) -> str:
    settings, scored = sum(row["tried"] for row in study.rows), sum(row["score"] is not None for row in study.rows)
    folds, spent = len(study.split.folds), study.model.record_["seconds"]["compare"]
    how = f"{folds}-fold cross-validation" if folds > 1 else "one held-out part"
    if study.options.time is not None:
        how = f"{counted(folds, 'block')} of later rows, each predicted from the rows before"
    rule = {
        "best": "the best score",
        "1se": "the simplest model within one standard error of the best",
        "bound": "the smallest bound",
    }
    return (
        f"{counted(settings, 'setting')} of {counted(scored, 'family', 'families')} "
        f"were scored by {how} within the training rows, in {spent:.0f} s (time limit {study.options.max_time:g} s). "
        f"The selection rule is {rule[study.options.select]}."
    )
