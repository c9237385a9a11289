"""Figures of the report, as SVG elements whose colors follow the theme of the page (light, dark or print)."""

from __future__ import annotations

import io
import re
from typing import Any

import numpy as np

from surefit.plots.axes import BLUE, CYCLE, GRAY, INK, RED, tidy

SIZE = (4.7, 3.2)  # inches: text stays readable when a phone shows the figure at full width
MOST_POINTS = 3000  # more points are unreadable and make the file large
#: Colors of the figures -> variables of the page's style sheet.
THEME = {INK: "currentColor", BLUE: "var(--blue)", RED: "var(--red)", GRAY: "var(--soft)", "#e6eaee": "var(--line)"}


def leaderboard_figure(rows: list[dict[str, Any]], words: str) -> str | None:
    """Plot the cross-validated score of each family with one standard error; the winner is filled."""
    scored = [row for row in rows if row["score"] is not None]
    if len(scored) < 2:
        return None
    figure, ax = _figure((4.7, 0.9 + 0.28 * len(scored)))
    places = np.arange(len(scored))[::-1]
    errors = np.array([row["standard_error"] or 0.0 for row in scored])
    values = np.array([row["score"] for row in scored])
    ax.errorbar(values, places, xerr=errors, fmt="none", ecolor=BLUE, elinewidth=1.4)
    for value, place, row in zip(values, places, scored, strict=True):
        ax.plot(value, place, "o", color=BLUE, markersize=6.5, markerfacecolor=BLUE if row["winner"] else "none")
    ax.set_yticks(places, [row["model"] for row in scored])
    ax.set(xlabel=words)
    tidy(ax)
    return as_svg(figure, "leaderboard", "Cross-validated score of each family")


def prediction_figure(truth: np.ndarray, predicted: np.ndarray, target: str) -> str:
    """Plot predicted against observed numbers of the test rows."""
    figure, ax = _figure()
    ax.scatter(truth[:MOST_POINTS], predicted[:MOST_POINTS], s=12, color=BLUE, alpha=0.55, linewidth=0)
    both = np.concatenate([truth, predicted])
    ax.axline((both.mean(), both.mean()), slope=1.0, color=RED, linewidth=1.2, linestyle="--")
    ax.set(xlabel=f"observed {target}", ylabel="predicted")
    tidy(ax)
    return as_svg(figure, "prediction", "Predicted against observed target of the test rows")


def residual_figure(truth: np.ndarray, predicted: np.ndarray) -> str:
    """Plot residuals against predictions."""
    figure, ax = _figure()
    ax.scatter(predicted[:MOST_POINTS], (truth - predicted)[:MOST_POINTS], s=12, color=BLUE, alpha=0.55, linewidth=0)
    ax.axhline(0.0, color=RED, linewidth=1.2, linestyle="--")
    ax.set(xlabel="predicted", ylabel="observed - predicted")
    tidy(ax)
    return as_svg(figure, "residual", "Residuals against predictions of the test rows")


def calibration_figure(truth: np.ndarray, probabilities: np.ndarray) -> str | None:
    """Plot observed frequency against predicted probability, with all classes pooled, in groups of equal size."""
    p, hit = probabilities.ravel(), np.eye(probabilities.shape[1])[truth].ravel()
    if probabilities.shape[1] == 2:
        p, hit = probabilities[:, 1], truth.astype(np.float64)
    groups = min(10, len(p) // 10)
    if groups < 3:
        return None
    parts = np.array_split(np.argsort(p, kind="stable"), groups)
    x, y = np.array([p[part].mean() for part in parts]), np.array([hit[part].mean() for part in parts])
    errors = np.array([np.sqrt(max(f * (1 - f), 1 / len(part)) / len(part)) for f, part in zip(y, parts, strict=True)])
    figure, ax = _figure()
    ax.plot([0, 1], [0, 1], color=RED, linewidth=1.2, linestyle="--")
    ax.errorbar(x, y, yerr=errors, fmt="o", color=BLUE, markersize=5.5, elinewidth=1.2)
    ax.set(xlabel="predicted probability", ylabel="observed frequency", xlim=(-0.03, 1.03), ylim=(-0.06, 1.06))
    tidy(ax)
    return as_svg(figure, "calibration", "Observed frequency against predicted probability")


def dependence_figure(found: Any, place: int, span: tuple[float, float]) -> str:
    """Plot the mean prediction along the values of one column."""
    figure, ax = _figure((4.7, 2.7))
    styles = ("-", "--", ":", "-.")
    for k, (label, line) in enumerate(found.lines.items()):
        if found.numeric:
            ax.plot(found.values, line, color=CYCLE[k], linestyle=styles[k % 4], linewidth=1.8, label=label)
        else:
            ax.plot(np.arange(len(line)), line, marker="os^D"[k % 4], color=CYCLE[k], linestyle="none", label=label)
    if found.numeric and not isinstance(found.values[0], float):
        figure.autofmt_xdate(rotation=30)
    if not found.numeric:
        ax.set_xticks(
            np.arange(len(found.values)), [_cut(str(value)) for value in found.values], rotation=30, ha="right"
        )
    label = next(iter(found.lines)) if len(found.lines) == 1 else "probability"
    ax.set(xlabel=found.column, ylabel=label, ylim=span)
    if len(found.lines) > 1:
        ax.legend(frameon=False, fontsize=8)
    tidy(ax)
    return as_svg(figure, f"dependence{place}", f"Partial dependence on {found.column}")


def _cut(text: str, most: int = 14) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _figure(size: tuple[float, float] = SIZE) -> tuple[Any, Any]:
    import matplotlib
    from matplotlib.figure import Figure

    colors: Any = dict.fromkeys(("text.color", "axes.labelcolor", "xtick.color", "ytick.color", "axes.edgecolor"), INK)
    with matplotlib.rc_context({**colors, "font.size": 10}):
        figure = Figure(figsize=size, layout="constrained")
        return figure, figure.subplots()


def as_svg(figure: Any, name: str, title: str) -> str:
    """Return a figure as an SVG element without document head and links; identifiers start with ``name``."""
    from html import escape

    import matplotlib

    buffer = io.StringIO()
    style: Any = {"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif"}
    with matplotlib.rc_context(style):
        empty = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        figure.savefig(buffer, format="svg", metadata=empty, transparent=True)
    svg = buffer.getvalue()
    svg = svg[svg.index("<svg") :].strip()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r"<!--.*?-->\s*", "", svg, flags=re.DOTALL)
    svg = re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", svg)  # needed in separate files, not inside HTML
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', svg)
    svg = re.sub(r'(href="|url\()#', rf"\g<1>#{name}-", svg)
    for color, variable in THEME.items():
        svg = svg.replace(color, variable)
    svg = re.sub(r'(<text style=")', r"\1fill: currentColor; ", svg)
    return svg.replace("<svg", f'<svg role="img" aria-label="{escape(title)}"', 1)
