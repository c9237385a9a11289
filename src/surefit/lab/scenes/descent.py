"""Gradient descent on a quadratic, and active design (choice of the next measurement)."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.text import counted
from surefit.lab.palette import BLUE, GREEN, INK, VERMILION
from surefit.lab.picture import Area, Box, Curve, Dots, Picture
from surefit.lab.scene import Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import ellipse, run_chart
from surefit.optimizers import GradientDescent, Quadratic
from surefit.selection.active_design import ActiveDesign

STEPS = 40
BOX = Box(-3.0, 3.0, -3.0, 3.0)
CANDIDATES = np.linspace(-3, 3, 61)[:, None]


def descent_frames(points: Points, p: Any) -> Frames:
    """Return the iterates on the level lines of the quadratic."""
    Q = np.array([[1.0, 0.0], [0.0, p.condition]])
    function = Quadratic(Q)
    step = p.step / function.smoothness
    outcome = GradientDescent(step=step, max_iter=STEPS, any_step=True).minimize(function, np.array([2.6, 1.6]))
    path, values = np.asarray(outcome.path), np.asarray(outcome.history)[:, 1]
    verdict = "diverges" if p.step > 2 else "never settles" if p.step == 2 else "converges"
    rings = [
        ellipse(np.zeros(2), np.linalg.inv(Q), s, color=INK, width=1.0, alpha=0.6)
        for s in (0.5, 1.0, 1.5, 2.0, 2.5, 3.0)
    ]

    def at(i: int) -> Frame:
        walked = np.clip(path[: i + 1], -50, 50)
        marks = (
            *rings,
            Curve(walked[:, 0], walked[:, 1], color=BLUE, width=2.0, label="iterates"),
            Dots(walked[:, 0], walked[:, 1], color=BLUE, size=6.0),
            Dots([0.0], [0.0], color=GREEN, marker="star", size=16.0, label="minimum"),
            Dots([walked[-1, 0]], [walked[-1, 1]], color=VERMILION, size=11.0, label="now"),
        )
        steps = np.arange(float(i + 1))
        chart = run_chart(
            "Value",
            "steps",
            [Curve(steps, np.log10(np.maximum(values[: i + 1], 1e-16)), color=BLUE, label="log₁₀ of f - min f")],
            float(i),
            (0.0, float(len(path) - 1)),
        )
        facts = (
            Fact(
                f"Step {p.step:g}/L on condition number {p.condition:g}: it {verdict}; 2/(L + μ) is the best fixed step.",
                "proved",
            ),
            Fact(f"Value {values[i]:.4g}."),
        )
        code = (
            "from surefit import GradientDescent\nfrom surefit.optimizers import Quadratic\n"
            f"function = Quadratic([[1.0, 0.0], [0.0, {p.condition}]])\n"
            f"print(GradientDescent(step={step!r}, max_iter={STEPS}, any_step=True).minimize(function, [2.6, 1.6]))"
        )
        return Frame(
            f"Step {i} of {len(path) - 1}.",
            Picture("", "w₁", "w₂", marks, BOX, show_points=False),
            chart,
            facts=facts,
            code=code,
        )

    return Frames(len(path), at)


def design_frames(points: Points, p: Any) -> Frames:
    """Return measurements one by one, each at the place that most reduces the uncertainty of the line."""
    start = np.unique(points.xy[:, 0])[:, None] if len(points.xy) else np.zeros((0, 1))
    if len(start) < 2:
        raise SceneMessage(
            "Active design starts from at least two measurements at different places: click in the plane."
        )
    start = start[:6]

    def at(i: int) -> Frame:
        design, random = ActiveDesign(start), ActiveDesign(start)
        queries = design.run(CANDIDATES, i)
        for x in np.random.default_rng(p.seed).uniform(-3, 3, (i, 1)):
            random.add(x)
        chosen = [float(CANDIDATES[q.row, 0]) for q in queries]
        facts: tuple[Fact, ...] = (
            Fact(f"Trace {design.trace:.4g} with the design, {random.trace:.4g} with random places."),
        )
        if queries:
            share = f"The last choice achieved {100 * queries[-1].efficiency:.0f} % of the largest possible gain."
            facts += (Fact(share, "proved"),)
        last = f", the last at x = {chosen[-1]:.2g}." if chosen else "."
        code = (
            "from surefit import ActiveDesign\n"
            f"design = ActiveDesign({start.tolist()})\nprint(design.run(np.linspace(-3, 3, 61)[:, None], {i}), design.trace)"
        )
        return Frame(
            f"{i} of {counted(p.queries, 'measurement')} chosen{last}",
            _design_picture(design, start, chosen),
            _design_chart(design, random, p.queries),
            facts=facts,
            code=code,
        )

    return Frames(p.queries + 1, at)


def _design_picture(design: ActiveDesign, start: np.ndarray, chosen: list[float]) -> Picture:
    """Return the places of the measurements and the uncertainty of the fitted line."""
    x = np.linspace(-3, 3, 121)
    rows = np.column_stack([x, np.ones(len(x))])
    deviation = np.sqrt(np.einsum("ij,jk,ik->i", rows, design.inverse_, rows))
    marks = (
        Area(
            np.concatenate([x, x[::-1]]),
            np.concatenate([-deviation, deviation[::-1]]),
            color=BLUE,
            alpha=0.22,
            label="standard deviation of the line",
        ),
        Dots(start[:, 0], np.zeros(len(start)), color=INK, size=10.0, label="first measurements"),
        Dots(chosen, np.zeros(len(chosen)), color=VERMILION, marker="triangle", size=13.0, label="chosen next"),
    )
    return Picture("", "x", "uncertainty of the fitted line", marks, BOX, show_points=False)


def _design_chart(design: ActiveDesign, random: ActiveDesign, queries: int) -> Picture:
    """Return the total variance after each measurement, for the design and for random places."""
    done = len(design.history_) - 1
    steps = np.arange(done + 1.0)
    curves = [
        Curve(steps, design.history_, color=VERMILION, label="active design"),
        Curve(steps, random.history_, color=INK, dash="dashed", label="random places"),
    ]
    return run_chart("Total variance of the coefficients", "measurements", curves, float(done), (0.0, float(queries)))


SCENES = (
    Scene(
        "gradient-descent",
        "Gradient descent on a quadratic",
        "Ideas",
        "none",
        "The effect of the step size: small steps are slow, 1/L converges, above 2/L the iteration diverges.",
        descent_frames,
        (
            Slider("step", "Step in units of 1/L", (0.05, 0.1, 0.2, 0.5, 1.0, 1.5, 1.8, 1.95, 2.0, 2.05, 2.1), 1.0),
            Slider("condition", "Condition number", (1.0, 2.0, 5.0, 10.0, 20.0, 50.0), 10.0),
        ),
        "gradient_descent",
    ),
    Scene(
        "active-design",
        "Active design",
        "Ideas",
        "none",
        "The next measurement reduces the uncertainty of the fitted line most: at the ends, not in the middle.",
        design_frames,
        (
            Slider("queries", "Measurements", steps_of(1, 12, 1), 8),
            Slider("seed", "Seed of the random design", steps_of(0, 20, 1), 0),
        ),
        "least_squares_gap",
        "few",
    ),
)
