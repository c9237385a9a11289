"""Concentration: Hoeffding's inequality, the union bound, and Rademacher complexity by coin flips."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds import empirical_rademacher, finite_class, hoeffding, labelings, massart
from surefit.core.text import counted
from surefit.lab.palette import BLUE, GREEN, INK, VERMILION, class_color, class_marker
from surefit.lab.picture import Bars, Curve, Dots, Picture
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, SceneMessage, Slider, steps_of
from surefit.lab.scenes.draw import run_chart

REPEATS = 400
MEMBERS = 8  # points for which all half-planes are enumerated


def hoeffding_frames(points: Points, p: Any) -> Frames:
    """Return samples of growing size: how often the mean deviates, and the bound of the inequality."""
    sizes = [5, 10, 20, 40, 80, 160, 320, 640, 1280]
    draws = np.random.default_rng(p.seed).random((REPEATS, sizes[-1])) < p.chance
    running = np.cumsum(draws, axis=1)

    def miss(n: int) -> float:
        return float(np.mean(np.abs(running[:, n - 1] / n - p.chance) >= p.radius))

    def at(i: int) -> Frame:
        n = sizes[i]
        bound = hoeffding(n=n, radius=p.radius).delta
        means = running[:, n - 1] / n
        edges = np.linspace(0, 1, 41)
        counts = np.histogram(means, edges)[0] / REPEATS
        top = max(0.1, float(counts.max()))
        walls = [
            Curve([v, v], [0, top], color=VERMILION, dash="dashed", label="p ± ε")
            for v in (p.chance - p.radius, p.chance + p.radius)
        ]
        picture = Picture(
            "",
            "mean of the sample",
            "share of the repetitions",
            (Bars(edges[:-1], edges[1:], counts, color=BLUE, label=f"{REPEATS} samples of size {n}"), *walls),
            show_points=False,
        )
        past = np.array(sizes[: i + 1], dtype=float)
        chart = run_chart(
            "Misses and the bound",
            "log₂ n",
            [
                Curve(
                    np.log2(past),
                    [min(1.0, hoeffding(n=k, radius=p.radius).delta) for k in sizes[: i + 1]],
                    color=INK,
                    dash="dashed",
                    label="Hoeffding's bound",
                ),
                Curve(np.log2(past), [miss(k) for k in sizes[: i + 1]], color=VERMILION, label="share of misses"),
            ],
            float(np.log2(n)),
            (np.log2(sizes[0]), np.log2(sizes[-1])),
        )
        vacuous = bound >= 1
        text = f"P(|mean - p| ≥ {p.radius:g}) ≤ {bound:.3g}{', which is vacuous' if vacuous else ''}; observed {miss(n):.3g}."
        code = f"from surefit.bounds import hoeffding\nprint(hoeffding(n={n}, radius={p.radius}))"
        return Frame(
            f"Samples of size {n}.", picture, chart, facts=(Fact(text, "vacuous" if vacuous else "proved"),), code=code
        )

    return Frames(len(sizes), at)


def union_frames(points: Points, p: Any) -> Frames:
    """Return the largest deviation over more and more hypotheses."""
    sizes = [1, 2, 5, 10, 20, 50, 100, 200, 500]
    rng = np.random.default_rng(p.seed)
    means = rng.binomial(p.n, 0.5, size=(REPEATS, sizes[-1])) / p.n  # every hypothesis is a fair coin
    deviation = np.maximum.accumulate(np.abs(means - 0.5), axis=1)

    def at(i: int) -> Frame:
        size = sizes[i]
        bound = finite_class(size, n=p.n, delta=0.05).radius
        worst, named = deviation[:, size - 1], counted(size, "hypothesis", "hypotheses")
        quantile = float(np.quantile(worst, 0.95))
        edges = np.linspace(0, 0.5, 41)
        counts = np.histogram(worst, edges)[0] / REPEATS
        top = max(0.1, float(counts.max()))
        marks = (
            Bars(edges[:-1], edges[1:], counts, color=BLUE, label=f"largest deviation of {named}"),
            Curve([bound, bound], [0, top], color=INK, dash="dashed", label="union bound at 95 %"),
            Curve([quantile, quantile], [0, top], color=VERMILION, label="observed 95 % quantile"),
        )
        past = np.log10(sizes[: i + 1])
        chart = run_chart(
            "Deviation of the worst hypothesis",
            "log₁₀ of the number of hypotheses",
            [
                Curve(
                    past,
                    [finite_class(s, n=p.n, delta=0.05).radius for s in sizes[: i + 1]],
                    color=INK,
                    dash="dashed",
                    label="union bound",
                ),
                Curve(
                    past,
                    [float(np.quantile(deviation[:, s - 1], 0.95)) for s in sizes[: i + 1]],
                    color=VERMILION,
                    label="observed",
                ),
            ],
            float(past[-1]),
            (0.0, np.log10(sizes[-1])),
        )
        risks = "the risk is" if size == 1 else f"all {size} risks are"
        text = f"With confidence 0.95 {risks} within {bound:.3g} of the estimate; observed quantile {quantile:.3g}."
        vacuous = bound >= 1
        picture = Picture("", "largest deviation", "share of the repetitions", marks, show_points=False)
        code = f"from surefit.bounds import finite_class\nprint(finite_class({size}, n={p.n}, delta=0.05))"
        fact = Fact(text + (" This bound is vacuous." if vacuous else ""), "vacuous" if vacuous else "proved")
        return Frame(f"{named}, {p.n} points.", picture, chart, facts=(fact,), code=code)

    return Frames(len(sizes), at)


def rademacher_frames(points: Points, p: Any) -> Frames:
    """Return coin flips on the points, and their correlation with the best member of the class."""
    X = points.xy[:MEMBERS]
    if len(X) < 2 or len(np.unique(X, axis=0)) < len(X):
        raise SceneMessage("Rademacher complexity needs at least two different points: click in the plane.")
    found = labelings(X, p.family)
    predictions = 2.0 * found.labels - 1.0
    complexity = empirical_rademacher(predictions, exact=len(X) <= 12)
    signs = np.where(np.random.default_rng(p.seed).random((60, len(X))) < 0.5, -1.0, 1.0)
    best = (predictions @ signs.T).max(axis=0) / len(X)
    means = np.cumsum(best) / np.arange(1, len(best) + 1)

    def at(i: int) -> Frame:
        follower = predictions[int(np.argmax(predictions @ signs[i]))]
        wrong = follower != signs[i]
        marks = (
            Dots(
                X[:, 0],
                X[:, 1],
                color=[class_color(int(s > 0)) for s in signs[i]],
                marker=[class_marker(int(s > 0)) for s in signs[i]],
                size=18.0,
            ),
            Dots(X[wrong, 0], X[wrong, 1], marker="x", size=20.0, label="not followed"),
        )
        chart = _flip_chart(means[: i + 1], complexity.value, massart(predictions))
        facts = (
            Fact(
                f"Complexity {complexity.value:.4g} of {len(found)} labelings; Massart's bound {massart(predictions):.4g}.",
                "proved",
            ),
            Fact("0: the class cannot follow noise; 1: it follows any noise, so its training error is uninformative."),
        )
        picture = Picture("", "x₁", "x₂", marks, points.box(), show_points=False)
        caption = (
            f"Flip {i + 1}: the best {p.family.replace('_', '-')[:-1]} has correlation {best[i]:.3g} with the coins."
        )
        code = (
            "from surefit.bounds import empirical_rademacher, labelings\n"
            f"found = labelings(X[:{MEMBERS}], {p.family!r})\nprint(empirical_rademacher(2.0 * found.labels - 1.0))"
        )
        return Frame(caption, picture, chart, facts=facts, code=code)

    return Frames(len(signs), at)


def _flip_chart(means: np.ndarray, complexity: float, bound: float) -> Picture:
    """Return a chart of the running mean of the best correlation, the Rademacher complexity, and Massart's bound."""
    flips = np.arange(1.0, len(means) + 1)
    curves = [
        Curve(flips, means, color=BLUE, label="running mean of the best correlation"),
        Curve(
            flips, np.full(len(flips), complexity), color=GREEN, dash="dashed", label="empirical Rademacher complexity"
        ),
        Curve(flips, np.full(len(flips), bound), color=INK, dash="dotted", label="Massart's bound"),
    ]
    return run_chart("Mean over the flips", "flips", curves, float(len(flips)), (1.0, 60.0))


SEED = Slider("seed", "Seed", steps_of(0, 20, 1), 0)

SCENES = (
    Scene(
        "hoeffding",
        "Hoeffding's inequality",
        "Ideas",
        "none",
        "Means of coin flips concentrate; the inequality bounds how often they deviate.",
        hoeffding_frames,
        (
            Slider("chance", "Probability p", steps_of(0.05, 0.95, 0.05), 0.5),
            Slider("radius", "Deviation ε", steps_of(0.02, 0.3, 0.02), 0.1),
            SEED,
        ),
        "concentration",
    ),
    Scene(
        "union-bound",
        "Union bound",
        "Ideas",
        "none",
        "The best of many hypotheses looks better than it is: the bound grows with the logarithm of their number.",
        union_frames,
        (Slider("n", "Points n", (20, 50, 100, 200, 500, 1000), 100), SEED),
        "concentration",
    ),
    Scene(
        "rademacher",
        "Rademacher complexity by coin flips",
        "Ideas",
        "none",
        "Flip a coin for each point: how well can the class follow pure noise?",
        rademacher_frames,
        (
            Choice(
                "family",
                "Class of sets",
                {"half-planes": "half_spaces", "stumps": "stumps", "rectangles": "rectangles"},
                "half_spaces",
            ),
            SEED,
        ),
        "rademacher",
        "few",
    ),
)
