"""The page: the result first, then the evidence; one HTML file without external links."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from surefit.core.errors import SurefitError
from surefit.core.tables import digits, number
from surefit.report import figures

MOST_COEFFICIENTS = 40
MOST_COLUMNS = 20
MEANINGS = {
    "exact": "rational arithmetic",
    "enclosed": "re-derived, rounding errors included",
    "recomputed": "evaluated again",
    "stated": "not a proof: an estimate, or nothing claimed",
}


def render(study: Any) -> str:
    """Return the report of a study (see :func:`surefit.study`) as HTML text.

    Examples
    --------
    >>> import surefit
    >>> page = surefit.study("iris", max_time=5, models=("linear",)).report()
    >>> "http" in page, "<script" in page
    (False, False)
    """
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError:
        raise SurefitError("Reports need jinja2; install it with: pip install 'surefit[report]'.") from None
    environment = Environment(
        loader=PackageLoader("surefit.report"), autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )  # fmt: skip
    environment.filters["number"] = number
    environment.filters["glued"] = glued
    environment.filters["options"] = options
    environment.filters["fixed"] = lambda value: (
        f"{value:#.3g}" if 1e-4 <= abs(value) < 1e4 else glued(digits(value, 3))
    )
    environment.filters["few"] = lambda value: glued(digits(value, 3))
    environment.filters["error"] = standard_error
    environment.filters["score"] = lambda value: "–" if value is None else glued(digits(value))
    return environment.get_template("report.html").render(**_content(study))


def glued(text: str) -> str:
    """Return a text in which numbers are not separated from their units and signs by line breaks."""
    text = re.sub(r"(?<=\d) (?=%|s\b|±|\d{3}\b)", "\u00a0", text)
    return re.sub(r"(?<=[±≤<=]) (?=\d)", "\u00a0", text)


def options(text: str) -> Any:
    """Return a text as HTML in which command line options are not broken across lines."""
    from markupsafe import Markup, escape

    return Markup(re.sub(r"--[a-z][a-z-]*", r"<span class='option'>\g<0></span>", str(escape(glued(text)))))


def standard_error(value: float | None) -> str:
    """Return a standard error with two significant digits; a dash if there is none."""
    if value is None or not np.isfinite(value):
        return "–"
    return f"{value:#.2g}" if 1e-4 <= value < 10 else glued(digits(value, 2))


def _content(study: Any) -> dict[str, Any]:
    words = study.words()
    found = study.explanation
    return {
        "study": study,
        "record": study.model.record_,
        "words": words,
        "target": study.model.target_,
        "meanings": MEANINGS,
        "cards": words["cards"],
        "importances": _bars(found.importances[:MOST_COLUMNS], "loss"),
        "coefficients": _bars(found.coefficients[:MOST_COEFFICIENTS], "standardized"),
        "n_coefficients": len(found.coefficients),
        "confusion": _confusion(study),
        "figures": {name: _safe(svg) for name, svg in _figures(study, words).items()},
        "dependences": _dependences(found.dependences),
    }


def _dependences(found: Any) -> list[Any]:
    """Return the figures of partial dependence on a common scale, so that columns without effect appear flat."""
    lines = [line for each in found for line in each.lines.values()]
    low, high = min((np.min(line) for line in lines), default=0.0), max((np.max(line) for line in lines), default=1.0)
    pad = 0.06 * (high - low) or 0.5
    return [_safe(figures.dependence_figure(each, k, (low - pad, high + pad))) for k, each in enumerate(found)]


def _figures(study: Any, words: dict[str, Any]) -> dict[str, str | None]:
    found = {
        "leaderboard": figures.leaderboard_figure(words["leaderboard"], study.metric.words),
        "prediction": None,
        "residual": None,
        "calibration": None,
    }
    test = study.test
    if test is not None and study.task == "regression":
        found["prediction"] = figures.prediction_figure(test.truth, test.predicted, study.model.target_)
        found["residual"] = figures.residual_figure(test.truth, test.predicted)
    elif test is not None:
        found["calibration"] = figures.calibration_figure(test.truth, test.probabilities)
    return found


def _confusion(study: Any) -> dict[str, Any] | None:
    """Return the confusion matrix of the test rows; None for many classes."""
    if study.test is None or study.task != "classification" or len(study.part.classes) > 12:
        return None
    k = len(study.part.classes)
    counts = np.zeros((k, k), dtype=int)
    np.add.at(counts, (study.test.truth, study.test.predicted), 1)
    return {"classes": list(study.part.classes), "counts": counts.tolist()}


def _bars(rows: list[Any], key: str) -> list[dict[str, Any]]:
    """Return rows with the length of their bars, in percent of the longest."""
    longest = max((abs(getattr(row, key)) for row in rows), default=0.0) or 1.0
    return [
        {**row._asdict(), "bar": 100 * abs(getattr(row, key)) / longest, "negative": getattr(row, key) < 0}
        for row in rows
    ]


def _safe(svg: str | None) -> Any:
    """Mark generated SVG as safe markup; matplotlib has escaped the column names."""
    from markupsafe import Markup

    return None if svg is None else Markup(svg)
