"""Downloads for the user: program, data, model, report and figure of the current frame."""

from __future__ import annotations

import io
import re
from html import escape
from pathlib import Path
from tempfile import TemporaryDirectory

import surefit
from surefit.core.errors import SurefitError
from surefit.lab.export import figure_file
from surefit.lab.proof import verify
from surefit.lab.scene import Frame, Points, Scene

INLINE = 60  # points that are written into the program; more are read from points.csv


def csv_text(points: Points) -> str:
    """Return the points as CSV.

    Examples
    --------
    >>> from surefit.lab.scene import Points
    >>> from surefit.lab.takeaway import csv_text
    >>> print(csv_text(Points.of([[1.0, 2.0]], [1])), end="")
    x1,x2,class
    1.0,2.0,1
    """
    rows = [f"{x!r},{y!r},{int(c)}" for (x, y), c in zip(points.xy.tolist(), points.labels, strict=True)]
    return "\n".join(["x1,x2,class", *rows]) + "\n"


def program(scene: Scene, frame: Frame, points: Points) -> str:
    """Return the Python lines that reproduce the frame."""
    lines = ["import numpy as np"]
    if frame.model is not None:
        lines += _imports(repr(frame.model) + frame.code)
    lines.append("")
    if scene.task != "none" or " X" in frame.code or "(X" in frame.code:
        lines += _data(points)
    lines += frame.code.splitlines()
    if frame.model is not None:
        arguments = "X" if frame.y is None else "X, y"
        model = re.sub(r"\s+", " ", repr(frame.model))
        lines += [
            "",
            f"model = {model}",
            f"model.fit({arguments})",
            "print(model.certificate_)",
            f"print(model.verify({arguments}))",
        ]
    return "\n".join(lines) + "\n"


def _imports(text: str) -> list[str]:
    """Return import lines for the public names that a text uses."""
    words = set(re.findall(r"\b[A-Za-z_]+\b(?=\()", text))
    kernels = set(surefit.kernels.__all__)
    public = sorted(words & set(surefit.__all__))
    lines = ["from sklearn.pipeline import Pipeline"] if "Pipeline" in words else []
    lines += [f"from surefit import {', '.join(public)}"] if public else []
    found = sorted((words & kernels) - set(public))
    return lines + ([f"from surefit.kernels import {', '.join(found)}"] if found else [])


def _data(points: Points) -> list[str]:
    if len(points.xy) > INLINE:
        return [
            'data = np.loadtxt("points.csv", delimiter=",", skiprows=1)',
            "X, y = data[:, :2], data[:, 2].astype(int)",
        ]
    return [f"X = np.array({points.xy.tolist()})", f"y = np.array({[int(c) for c in points.labels]})"]


def model_file(frame: Frame) -> io.BytesIO:
    """Return the fitted model as a file that ``surefit.load`` opens."""
    if frame.model is None:
        raise SurefitError("This scene fits no model; there is nothing to save.")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "model.surefit"
        surefit.save(frame.model, path)
        return io.BytesIO(path.read_bytes())


def report_file(scene: Scene, frame: Frame, points: Points) -> io.BytesIO:
    """Return one HTML page with the figure, the claims, the findings of the checker, and the program."""
    svg = figure_of("svg", scene, frame, points).getvalue().decode("utf-8")
    svg = svg[svg.index("<svg") :]
    found = frame.model.certificate_._repr_html_() if frame.model is not None else ""
    verdict = verify(frame)
    facts = "".join(f"<li>{escape(fact.text)}</li>" for fact in frame.facts)
    checked = "" if verdict is None else f"<p>{escape(verdict.text)}</p>"
    style = (
        "body{font-family:sans-serif;margin:2em auto;max-width:60em}td,th{padding:.3em .8em;border-bottom:1px solid #ccc}"
        "svg{max-width:100%;height:auto}"
    )
    page = (
        f"<!doctype html><html lang='en'><head><meta charset='utf-8'><title>{escape(scene.name)}</title><style>{style}</style></head>"
        f"<body><h1>{escape(scene.name)}</h1><p>{escape(scene.about)}</p><p>{escape(frame.caption)}</p>{svg}<ul>{facts}</ul>"
        f"{found}{checked}<h2>Program</h2><pre>{escape(program(scene, frame, points))}</pre></body></html>\n"
    )
    return io.BytesIO(page.encode("utf-8"))


def figure_of(kind: str, scene: Scene, frame: Frame, points: Points) -> io.BytesIO:
    """Return picture and chart of a frame as 'png' or 'svg'."""
    pictures = [frame.picture, *([] if frame.chart is None else [frame.chart])]
    return figure_file(kind, pictures, points, f"{scene.name}. {frame.caption}", shows_classes(scene))


def shows_classes(scene: Scene) -> bool:
    """Whether the points of a scene differ by class."""
    return scene.task in ("classes", "two classes")
