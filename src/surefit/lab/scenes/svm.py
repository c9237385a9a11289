"""Support vector machines: SMO iterations, margins, support vectors, and the path over C."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.text import counted
from surefit.kernel_machines.svc import SVC
from surefit.kernel_machines.svm_path import svc_path
from surefit.lab.palette import BLUE, GREEN, INK, VERMILION
from surefit.lab.picture import Curve
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, Slider, log_values, schedule, steps_of
from surefit.lab.scenes.draw import classifier_marks, plane, remembered, rings, run_chart, training_errors
from surefit.linear.margins.classifier import LinearSVC

LONGEST = 5.0  # seconds that one fit may take
KERNELS = {"linear": "linear", "Gaussian": "rbf", "polynomial": "poly"}


def svc_frames(points: Points, p: Any) -> Frames:
    """Return the classifier after an increasing number of SMO iterations."""
    X, y = points.xy, points.labels
    options = {"kernel": p.kernel, "C": p.C, "gamma": p.gamma, "degree": p.degree, "coef0": 1.0, "max_time": LONGEST}
    if p.kernel == "linear":
        options = {"kernel": "linear", "C": p.C, "max_time": LONGEST}
    fit = remembered(lambda k: SVC(max_iter=k, **options).fit(X, y))
    shown = schedule(int(np.max(fit(-1).n_iter_)))[1:] or [1]

    def at(i: int) -> Frame:
        model = fit(-1) if i == len(shown) - 1 else fit(shown[i])
        earlier = shown[: i : max(1, (i + 1) // 8)]  # few, because each frame is a fit
        past = [*(fit(k).dual_gap_ for k in earlier), model.dual_gap_]
        steps = np.array([*earlier, shown[i]], dtype=float)
        chart = run_chart(
            "Distance to the optimum",
            "SMO iterations",
            [Curve(steps, np.log10(np.maximum(past, 1e-16)), color=BLUE, label="log₁₀ of the proved gap")],
            float(shown[i]),
        )
        facts = (_margin_fact(model), training_errors(model, X, y))
        return Frame(
            f"Iteration {shown[i]} of {shown[-1]}: {counted(len(model.support_), 'support vector')}.",
            plane(points, _machine_marks(points, model)),
            chart,
            model,
            X,
            y,
            facts,
        )

    return Frames(len(shown), at)


def _machine_marks(points: Points, model: Any) -> list[Any]:
    binary = len(model.classes_) == 2
    marks = [*classifier_marks(model, points.box(), margin=binary)]
    if binary:
        marks.append(rings(points, model.free_support_, GREEN, "support vectors on the margin"))
        marks.append(rings(points, model.bound_support_, INK, "support vectors inside"))
    else:
        marks.append(rings(points, model.support_, GREEN, "support vectors"))
    return marks


def _margin_fact(model: Any) -> Fact:
    width = np.ravel(model.margin_width_)
    share = len(model.support_) / max(1, sum(model.shape_fit_[:1]))
    return Fact(
        f"Margin width {width[0]:.4g} in the kernel's space; {100 * share:.0f} % of the points are support vectors."
    )


def linear_svc_frames(points: Points, p: Any) -> Frames:
    """Return the linear classifier after each Newton step."""
    X, y = points.xy, points.labels
    fit = remembered(lambda k: LinearSVC(C=p.C, max_iter=k).fit(X, y))
    shown = schedule(max(1, int(np.max(fit(1000).n_iter_))))[1:]

    def at(i: int) -> Frame:
        model = fit(shown[i])
        gaps = [fit(k).dual_gap_ for k in shown[: i + 1]]
        chart = run_chart(
            "Distance to the optimum",
            "steps",
            [
                Curve(
                    np.array(shown[: i + 1], dtype=float),
                    np.log10(np.maximum(gaps, 1e-16)),
                    color=BLUE,
                    label="log₁₀ of the proved gap",
                )
            ],
            float(shown[i]),
        )
        binary = len(model.classes_) == 2
        marks = classifier_marks(model, points.box(), margin=binary)
        margin = f" Margin {np.ravel(model.margin_)[0]:.4g}." if binary else ""
        return Frame(
            f"Step {shown[i]} of {shown[-1]}.{margin}",
            plane(points, marks),
            chart,
            model,
            X,
            y,
            (training_errors(model, X, y),),
        )

    return Frames(len(shown), at)


def path_frames(points: Points, p: Any) -> Frames:
    """Return the classifiers along C, from a wide margin to a narrow one."""
    X, y = points.xy, points.labels
    options = {"kernel": p.kernel} if p.kernel == "linear" else {"kernel": p.kernel, "gamma": p.gamma, "coef0": 1.0}
    path = svc_path(X, y, C_range=(0.01, 100.0), eps=0.05, **options)
    fit = remembered(lambda C: SVC(C=C, max_time=LONGEST, **options).fit(X, y))
    shown = [int(k) for k in np.unique(np.linspace(0, len(path.Cs) - 1, 60).round())]
    log_c = np.log10(path.Cs)

    def at(i: int) -> Frame:
        k = shown[i]
        model = fit(float(f"{path.Cs[k]:.4g}"))
        chart = run_chart(
            "Path over C",
            "log₁₀ C",
            [
                Curve(log_c, path.margins, color=GREEN, label="margin 1/‖f‖"),
                Curve(log_c, path.slacks / max(1, len(y)), color=VERMILION, label="mean slack"),
            ],
            float(log_c[k]),
        )
        facts = (
            Fact(
                f"{counted(len(path.Cs), 'model')} cover every C from 0.01 to 100 with a relative gap of at most 5 %.",
                "proved",
            ),
            _margin_fact(model),
            training_errors(model, X, y),
        )
        return Frame(f"C = {model.C:.4g}.", plane(points, _machine_marks(points, model)), chart, model, X, y, facts)

    return Frames(len(shown), at)


PRICE = Slider("C", "C (wide to narrow margin)", log_values(0.01, 1000, 2), 1.0)
KERNEL = Choice("kernel", "Kernel", KERNELS, "rbf")
GAMMA = Slider("gamma", "γ of the kernel", log_values(0.01, 100), 1.0)

SCENES = (
    Scene(
        "svc",
        "Support vector machine",
        "Support vector machines",
        "classes",
        "The widest margin, softened by C, in the space of a kernel; SMO closes a proved gap.",
        svc_frames,
        (KERNEL, PRICE, GAMMA, Slider("degree", "Degree", steps_of(1, 6, 1), 3)),
        "svm_gap",
        "circles",
    ),
    Scene(
        "linear-svc",
        "Linear support vector machine",
        "Support vector machines",
        "classes",
        "The hinge loss with an l2 penalty, solved in the primal.",
        linear_svc_frames,
        (PRICE,),
        "svm_gap",
        "two-gaussians",
    ),
    Scene(
        "svc-path",
        "SVM path over C",
        "Support vector machines",
        "two classes",
        "The classifiers for all C: with larger C the margin narrows and the slack decreases.",
        path_frames,
        (Choice("kernel", "Kernel", KERNELS, "linear"), GAMMA),
        "svm_path",
        "two-gaussians",
    ),
)
