"""Perceptrons: one frame per update, with Novikoff's bound."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.core.text import counted
from surefit.lab.palette import GREEN, INK, VERMILION, class_color
from surefit.lab.picture import Curve
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, Slider, log_values, schedule, steps_of
from surefit.lab.scenes.draw import (
    classifier_marks,
    half_plane_marks,
    plane,
    remembered,
    rings,
    run_chart,
    training_errors,
)
from surefit.perceptrons.averaged import AveragedPerceptron
from surefit.perceptrons.batch import BatchPerceptron
from surefit.perceptrons.kernel import KernelPerceptron
from surefit.perceptrons.margin import MarginPerceptron
from surefit.perceptrons.novikoff import novikoff_bound
from surefit.perceptrons.perceptron import Perceptron
from surefit.perceptrons.variable_increment import VariableIncrementPerceptron
from surefit.perceptrons.voted import VotedPerceptron
from surefit.plots.perceptrons import UpdatePathDisplay
from surefit.separation.margin import maximal_margin


def perceptron_frames(points: Points, p: Any) -> Frames:
    """Return the line after every update, with the row that caused it."""
    X, y = points.xy, points.labels
    fit = remembered(lambda k: Perceptron(max_iter=k, tol=None, shuffle=p.shuffle, eta0=p.eta0).fit(X, y))
    last = fit(p.passes)
    log, weights = last.mistake_log_, UpdatePathDisplay.from_estimator(last, X, y).weights
    updates = len(weights) - 1
    shown = schedule(updates)
    theorem = _theorem(X, y, last)

    def at(i: int) -> Frame:
        j = shown[i]
        row = int(log["row"][j - 1]) if j else -1
        number = int(log["pass"][j - 1]) + 1 if j else 1
        finished = j == updates
        model = last if finished else fit(number)
        marks: list[Any] = []
        for k in range(max(1, j - 6), j):  # the last few lines fade out
            faded = half_plane_marks(weights[k, :2], weights[k, 2], last.classes_, points.box())
            marks += [
                line._replace(width=1.0, alpha=0.15 + 0.1 * (k - j + 6), label="earlier lines") for line in faded[1:]
            ]
        marks += half_plane_marks(weights[j, :2], weights[j, 2], last.classes_, points.box())
        if j:
            marks.append(rings(points, [row], VERMILION, "point of this update"))
        wrong = int(np.sum(np.where(X @ weights[j, :2] + weights[j, 2] > 0, last.classes_[1], last.classes_[0]) != y))
        facts = [_theorem_fact(j, theorem), Fact(f"{counted(wrong, 'training point')} of {len(y)} on the wrong side.")]
        if not finished:
            facts.append(Fact(f"The certificate is of the model at the end of pass {number}."))
        caption = f"Update {j} of {updates}: point {row + 1} in pass {number}." if j else "Start: the weights are zero."
        return Frame(
            caption + (" Every point is on its side." if finished and last.converged_ else ""),
            plane(points, marks),
            _growth(weights, theorem, j, p.eta0),
            model,
            X,
            y,
            tuple(facts),
        )

    return Frames(len(shown), at)


def _novikoff(model: Any) -> Any:
    """Return the claim with the bound on the number of updates, or None if the points are not separated."""
    return next((claim for claim in model.certificate_.claims if claim.name.endswith("novikoff")), None)


def _bound_fact(updates: int, bound: Any) -> Fact:
    if bound is None or bound.limit is None:
        return Fact("The run did not separate the points, so Novikoff's theorem does not apply.", "vacuous")
    return Fact(
        f"{counted(updates, 'update')} so far; Novikoff's theorem allows at most (R/γ)² ≤ {bound.limit:.4g} "
        "on these points, in any order.",
        "proved",
    )


class Theorem(NamedTuple):
    """Radius and widest margin of the points with a constant feature appended; margin 0 if no line separates them."""

    radius: float
    margin: float


def _theorem(X: np.ndarray, y: np.ndarray, model: Any) -> Theorem:
    rows = np.column_stack([X, np.ones(len(X))])
    radius = float(np.sqrt((rows**2).sum(axis=1).max()))
    try:
        return Theorem(
            radius, float(maximal_margin(rows, np.where(y == model.classes_[1], 1, -1), intercept=False).bracket.low)
        )
    except InvalidData:
        return Theorem(radius, 0.0)


def _theorem_fact(updates: int, theorem: Theorem) -> Fact:
    if theorem.margin <= 0:
        return Fact(
            "No line separates these points, so Novikoff's theorem does not apply: the perceptron never converges.",
            "vacuous",
        )
    bound = novikoff_bound(theorem.radius, theorem.margin)
    given = f"Radius R = {theorem.radius:.3g} and margin γ = {theorem.margin:.3g}"
    text = f"{counted(updates, 'update')} so far. {given} allow at most (R/γ)² = {bound:.4g}, in any order."
    return Fact(text, "proved")


def _growth(weights: np.ndarray, theorem: Theorem, now: int, eta: float):
    """Return a chart of the norm of the weights between its lower and upper bounds, which cross at Novikoff's bound."""
    steps = np.arange(len(weights), dtype=float)
    curves = [
        Curve(steps, np.linalg.norm(weights, axis=1) / eta, color=class_color(0), label="norm of w"),
        Curve(steps, theorem.radius * np.sqrt(steps), color=INK, dash="dashed", label="upper bound R√k"),
    ]
    if theorem.margin > 0:
        curves.append(Curve(steps, theorem.margin * steps, color=GREEN, dash="dotted", label="lower bound γk"))
    return run_chart("Why it must stop", "updates k", curves, float(now))


VARIANTS = {
    "averaged": "averaged",
    "voted": "voted",
    "margin": "margin",
    "batch": "batch",
    "variable increment": "variable increment",
}


def variant_frames(points: Points, p: Any) -> Frames:
    """Return a variant after each pass."""
    X, y = points.xy, points.labels

    def new(k: int) -> Any:
        makers = {
            "averaged": lambda: AveragedPerceptron(max_iter=k, tol=None),
            "voted": lambda: VotedPerceptron(max_iter=k),
            "margin": lambda: MarginPerceptron(max_iter=k),
            "batch": lambda: BatchPerceptron(max_iter=k, tol=None),
            "variable increment": lambda: VariableIncrementPerceptron(max_iter=k, tol=None),
        }
        return makers[p.variant]()

    return _by_pass(points, X, y, new, p.passes)


def kernel_frames(points: Points, p: Any) -> Frames:
    """Return a kernel perceptron after each pass."""

    def new(k: int) -> Any:
        return KernelPerceptron(kernel=p.kernel, gamma=p.gamma, degree=p.degree, coef0=1.0, max_iter=k, tol=None)

    return _by_pass(points, points.xy, points.labels, new, p.passes)


def _by_pass(points: Points, X: np.ndarray, y: np.ndarray, new: Any, passes: int) -> Frames:
    fit = remembered(lambda k: new(k).fit(X, y))
    last = fit(passes)
    count = max(1, int(np.max(last.n_iter_)))
    mistakes = np.asarray(last.mistakes_per_pass_, dtype=float)

    def at(i: int) -> Frame:
        model = fit(i + 1)
        support = getattr(model, "support_", np.zeros(0, dtype=int))
        marks = [*classifier_marks(model, points.box()), rings(points, support, INK, "points with weight")]
        chart = run_chart(
            "Mistakes in each pass",
            "pass",
            [Curve(np.arange(1.0, len(mistakes) + 1), mistakes, color=class_color(1))],
            i + 1.0,
        )
        bound = _novikoff(model)
        facts = [training_errors(model, X, y)]
        if bound is not None and bound.limit is not None:
            facts.insert(0, _bound_fact(int(bound.value), bound))
        return Frame(f"Pass {i + 1} of {count}.", plane(points, marks), chart, model, X, y, tuple(facts))

    return Frames(count, at)


PASSES = Slider("passes", "Passes at most", (1, 2, 3, 5, 10, 20, 50, 100), 50)

SCENES = (
    Scene(
        "perceptron",
        "Perceptron",
        "Perceptrons",
        "two classes",
        "Processes the points one by one and updates the line after each mistake.",
        perceptron_frames,
        (
            PASSES,
            Slider("eta0", "Learning rate η", log_values(0.01, 10, 2), 1.0),
            Choice("shuffle", "Order", {"as drawn": False, "shuffled": True}, False),
        ),
        "novikoff",
        "two-gaussians",
    ),
    Scene(
        "perceptron-variants",
        "Perceptron variants",
        "Perceptrons",
        "two classes",
        "Averaged, voted, margin, batch and variable-increment rules: the same idea, steadier lines.",
        variant_frames,
        (Choice("variant", "Variant", VARIANTS, "averaged"), PASSES),
        "novikoff",
        "two-gaussians",
    ),
    Scene(
        "kernel-perceptron",
        "Kernel perceptron",
        "Perceptrons",
        "two classes",
        "The perceptron in the space of a kernel: curved boundaries from the same rule.",
        kernel_frames,
        (
            Choice("kernel", "Kernel", {"Gaussian": "rbf", "polynomial": "poly"}, "rbf"),
            Slider("gamma", "γ of the kernel", log_values(0.01, 100), 1.0),
            Slider("degree", "Degree", steps_of(1, 6, 1), 3),
            PASSES,
        ),
        "novikoff",
        "circles",
    ),
)
