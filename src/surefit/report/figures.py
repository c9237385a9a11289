"""The figures of the report, as SVG text that can stand inside an HTML page."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from surefit.plots import GapDisplay, PathDisplay
from surefit.plots.axes import BLUE, INK, RED, tidy
from surefit.tables import Study

SIZE = (7.2, 3.9)
MOST_POINTS = 5000  # a scatter of more is a blot, and a large file


def gap_figure(study: Study) -> str:
    """Gap against time of the final fit."""
    figure, ax = _figure()
    GapDisplay.from_estimator(study.model.estimator_).plot(ax)
    return as_svg(figure, "gap", "Gap against the seconds of the fit")


def path_figure(study: Study) -> str:
    """Coefficients against the weight of the penalty, the chosen weight marked."""
    figure, ax = _figure()
    names = study.model.encoder_.feature_names_
    PathDisplay.from_path(study.path.alphas, study.path.coefs, feature_names=names, alpha=study.alpha).plot(ax)
    return as_svg(figure, "path", "Coefficients against the weight of the penalty")


def choice_figure(study: Study) -> str | None:
    """Cross-validation error against the weight of the penalty, or None if the weight was given."""
    errors = getattr(study.model.estimator_, "mse_path_", None)
    if errors is None:
        return None
    figure, ax = _figure()
    alphas, means = study.model.estimator_.alphas_, errors.mean(axis=1)
    spread = errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1]) if errors.shape[1] > 1 else np.zeros(len(means))
    ax.fill_between(
        alphas, means - spread, means + spread, color=BLUE, alpha=0.15, linewidth=0, label="± one standard error"
    )
    ax.plot(alphas, means, color=BLUE, linewidth=1.6, label=f"mean of {errors.shape[1]} folds")
    ax.axvline(study.alpha, color=INK, linestyle=":", linewidth=1.4, label=f"chosen: α = {study.alpha:.3g}")
    ax.set(xscale="log", xlabel="weight α of the penalty (weaker to the right)", ylabel="mean squared error")
    ax.invert_xaxis()
    ax.legend(frameon=False)
    tidy(ax)
    return as_svg(figure, "choice", "Cross-validation error against the weight of the penalty")


def prediction_figure(study: Study) -> str | None:
    """Predicted against observed values of the test rows, or None without a test part."""
    if study.scores is None:
        return None
    figure, ax = _figure((4.6, 4.6))
    ax.scatter(study.observed[:MOST_POINTS], study.predicted[:MOST_POINTS], s=14, color=BLUE, alpha=0.6, linewidth=0)
    both = np.concatenate([study.observed, study.predicted])
    ax.axline((both.mean(), both.mean()), slope=1.0, color=RED, linewidth=1.1)
    ax.set(xlabel=f"observed {study.model.target_}", ylabel="predicted", aspect="equal", adjustable="datalim")
    tidy(ax)
    return as_svg(figure, "prediction", "Predicted against observed target of the test rows")


def formula_figure(formula: str) -> str:
    """Return a formula in mathtext as a picture."""
    figure, _ = _figure((0.1, 0.1), axes=False)
    figure.set_layout_engine("none")
    figure.text(0, 0, formula, fontsize=15, color=INK)
    return as_svg(figure, "formula", formula.strip("$"), text_as_paths=True, tight=True)


def _figure(size: tuple[float, float] = SIZE, axes: bool = True) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots() if axes else None


def as_svg(figure: Any, name: str, title: str, *, text_as_paths: bool = False, tight: bool = False) -> str:
    """Return a figure as an SVG element: no document head, no links, identifiers that start with ``name``."""
    from html import escape

    import matplotlib

    buffer = io.StringIO()
    style: Any = {
        "svg.fonttype": "path" if text_as_paths else "none",
        "svg.hashsalt": name,
        "font.family": "sans-serif",
    }
    empty = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    with matplotlib.rc_context(style):
        options = {"bbox_inches": "tight", "pad_inches": 0.03} if tight else {}
        figure.savefig(buffer, format="svg", metadata=empty, transparent=True, **options)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)  # needed in files of their own, not inside HTML
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(href="|url\()#', rf"\g<1>#{name}-", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
