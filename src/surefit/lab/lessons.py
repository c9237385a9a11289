"""Ten lessons: prepared scenes, each of which illustrates one theorem and has its own address."""

from __future__ import annotations

from typing import Any, NamedTuple

from surefit.lab.state import LaneState, State


class Lesson(NamedTuple):
    """A prepared scene at ``/path``, with its theorem and suggestions of what to try."""

    path: str
    title: str
    claim: str
    tries: tuple[str, ...]
    lanes: tuple[tuple[str, dict[str, Any]], ...]
    generator: str
    settings: dict[str, Any]
    step: int | None = None

    def state(self) -> State:
        """Return the state that the lesson opens with."""
        lanes = [LaneState(scene, dict(values)) for scene, values in self.lanes]
        return State(lanes, self.generator, dict(self.settings), None, self.step)


LESSONS = (
    Lesson(
        "perceptron-margin",
        "The perceptron stops",
        "If a line separates the points with margin γ, the perceptron makes at most (R/γ)² updates, in any order.",
        (
            "Press Play and watch the norm of w stay between its two bounds.",
            "Lower the separation: the margin shrinks, the bound and the number of updates grow.",
            "Drag one point across the line: the points are no longer separable, and the theorem does not apply.",
        ),
        (("perceptron", {"passes": 100}),),
        "two-gaussians",
        {"n": 60, "noise": 0.2, "separation": 0.6, "seed": 12},
        0,
    ),
    Lesson(
        "overfitting",
        "Overfitting",
        "The training error never rises with the degree of the polynomial; the error on held-out points does.",
        (
            "Step from degree 0 upward and watch the two curves diverge.",
            "Raise the number of points: the same degree overfits less.",
            "Lower the noise to zero: when is a high degree harmless?",
        ),
        (("degrees", {"degree": 14}),),
        "sine",
        {"n": 20, "noise": 0.4, "seed": 3},
        3,
    ),
    Lesson(
        "kernel-trick",
        "The kernel trick",
        "No line separates a disc from the ring around it; in the feature space of a Gaussian kernel a hyperplane does.",
        (
            "Compare the two machines on the same points.",
            "Lower γ on the right: the boundary becomes a line again.",
            "Raise γ far: every point gets its own island.",
        ),
        (("svc", {"kernel": "linear", "C": 1.0}), ("svc", {"kernel": "rbf", "gamma": 1.0, "C": 10.0})),
        "circles",
        {"n": 80, "noise": 0.3, "separation": 0.8, "seed": 1},
    ),
    Lesson(
        "soft-margin",
        "The soft margin",
        "C trades the width of the margin against the slack of the points inside; only support vectors matter.",
        (
            "Move along the path: a small C has a wide margin and many support vectors.",
            "Drag a point far from the margin: nothing changes.",
            "Drag a support vector: everything follows.",
        ),
        (("svc-path", {"kernel": "linear"}),),
        "two-gaussians",
        {"n": 60, "noise": 0.5, "separation": 0.9, "seed": 2},
        8,
    ),
    Lesson(
        "lasso-corners",
        "Why the lasso gives zeros",
        "The ellipses of equal error touch a diamond at a corner, where a weight is zero; a disc has no corners.",
        ("Step through growing balls on both sides.", "Watch when the second weight leaves zero on the left."),
        (("contact", {"norm": "l1"}), ("contact", {"norm": "l2"})),
        "parabola",
        {"n": 40, "noise": 0.5, "separation": 1.0, "seed": 0},
        4,
    ),
    Lesson(
        "bias-variance",
        "Bias and variance",
        "The expected squared error is squared bias plus variance plus noise; a richer model trades the first for the second.",
        (
            "Play through the degrees: the darts move to the center, then scatter.",
            "With more points per sample the darts scatter less.",
        ),
        (("bias-variance", {"degree": 9, "n": 20, "noise": 0.5}),),
        "sine",
        {},
        0,
    ),
    Lesson(
        "vc-dimension",
        "The VC dimension of half-planes is three",
        "Three points in general position are shattered by half-planes; no four points are.",
        (
            "Play through all eight labelings of three points.",
            "Click to add a fourth point: some labeling fails, and Radon's partition shows why.",
            "Choose rectangles: four points in a diamond are shattered.",
        ),
        (("shattering", {"family": "half_spaces"}),),
        "triangle",
        {},
        0,
    ),
    Lesson(
        "boosting",
        "Boosting lowers the training error",
        "The training error of AdaBoost is at most the product of its normalizers Z, so it falls exponentially with the rounds.",
        (
            "Press Play and watch the bound approach the error.",
            "Change the chart to the margin distribution: it keeps moving right after the error is zero.",
        ),
        (("adaboost", {"rounds": 50}),),
        "circles",
        {"n": 120, "noise": 0.35, "separation": 0.6, "seed": 4},
        0,
    ),
    Lesson(
        "k-means-bound",
        "How good is k-means?",
        "Lloyd's algorithm ends in a local optimum; a lower bound for all partitions shows whether it is the best one.",
        (
            "Press End: from one start the inertia is 17.9, from the other 97.8.",
            "Read the bound below the charts: it proves that the first partition is optimal.",
            "Choose the spectral bound: in the plane it is vacuous from three clusters on.",
        ),
        (("k-means", {"k": 3, "init": "random", "seed": 1}), ("k-means", {"k": 3, "init": "random", "seed": 0})),
        "blobs",
        {"n": 60, "noise": 0.3, "separation": 1.1, "seed": 2},
        0,
    ),
    Lesson(
        "duality-gap",
        "Primal and dual values enclose the optimum",
        "Every dual point bounds the smallest objective from below, so the gap between the two values is a certificate.",
        (
            "Step: each Newton step moves both numbers.",
            "Stop early: the certificate bounds the distance from the optimum.",
        ),
        (("duality", {"C": 1.0}),),
        "two-gaussians",
        {"n": 80, "noise": 0.6, "separation": 0.7, "seed": 3},
        1,
    ),
)

BY_PATH = {lesson.path: lesson for lesson in LESSONS}
