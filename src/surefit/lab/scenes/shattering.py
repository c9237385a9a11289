"""The shattering game: every labeling of the drawn points, including those that no member of the class realizes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from surefit.bounds import labelings, radon_partition, sauer, vc_dimension
from surefit.core.text import counted
from surefit.lab.palette import class_color, class_marker
from surefit.lab.picture import Area, Curve, Dots, Picture
from surefit.lab.scene import Choice, Fact, Frame, Frames, Points, Scene, SceneMessage
from surefit.lab.scenes.draw import half_plane_marks

LARGEST = 6  # largest number of points for which all labelings are shown


def shattering_frames(points: Points, p: Any) -> Frames:
    """Return one frame per labeling; labelings that cannot be realized come last."""
    X = points.xy
    n = len(X)
    if not 1 <= n <= LARGEST or len(np.unique(X, axis=0)) < n:
        raise SceneMessage(
            f"The shattering game takes 1 to {LARGEST} different points; there are {n}. Clear, then click in the plane."
        )
    found = labelings(X, p.family)
    members = {tuple(labels): member for labels, member in zip(found.labels.tolist(), found.members, strict=True)}
    every = sorted(itertools.product([False, True], repeat=n), key=lambda labels: labels not in members)
    dimension = vc_dimension(p.family, d=2)

    def at(i: int) -> Frame:
        labels = every[i]
        member = members.get(labels)
        colors, markers = [class_color(int(v)) for v in labels], [class_marker(int(v)) for v in labels]
        marks: list[Any] = [Dots(X[:, 0], X[:, 1], color=colors, marker=markers, size=20.0)]
        if member is None:
            caption = f"Labeling {i + 1} of {2**n}: no {SINGULAR[p.family]} realizes it."
            marks += _witness(X, p.family)
        else:
            caption = f"Labeling {i + 1} of {2**n}: realized."
            marks = [*_member_marks(member, p.family, points), *marks]
        facts = (
            Fact(
                f"{len(found)} of {2**n} labelings can be realized: the points are {'' if found.shattered else 'not '}shattered.",
                "proved",
            ),
            Fact(f"The VC dimension of {p.family.replace('_', '-')} in the plane is {dimension:g}."),
        )
        code = f"from surefit.bounds import labelings\nfound = labelings(X, {p.family!r})\nprint(len(found), found.shattered)"
        picture = Picture("", "x₁", "x₂", tuple(marks), points.box(), show_points=True)
        return Frame(caption, picture, _counts(n, p.family, len(found)), facts=facts, code=code)

    return Frames(2**n, at)


SINGULAR = {"half_spaces": "half-plane", "rectangles": "rectangle", "stumps": "stump"}


def _member_marks(member: tuple[float, ...], family: str, points: Points) -> tuple[Any, ...]:
    """Return the set that realizes a labeling."""
    box, classes = points.box(), np.array([0, 1])
    if family == "half_spaces":
        return half_plane_marks(np.array(member[:2]), member[2], classes, box)
    if family == "stumps":
        axis, cut, sign = int(member[0]), member[1], member[2]
        w = np.zeros(2)
        w[axis] = sign
        return half_plane_marks(w, -sign * float(np.clip(cut, -1e6, 1e6)), classes, box)
    left, bottom, right, top = (float(np.clip(v, -1e6, 1e6)) for v in member)
    if left > right or bottom > top:
        return ()
    pad = 0.12
    x = [left - pad, right + pad, right + pad, left - pad, left - pad]
    y = [bottom - pad, bottom - pad, top + pad, top + pad, bottom - pad]
    return Area(x, y, color=class_color(1), alpha=0.2, label="rectangle"), Curve(x, y)


def _witness(X: np.ndarray, family: str) -> list[Any]:
    """Return Radon's partition for half-planes: two groups whose convex hulls intersect."""
    if family != "half_spaces" or len(X) < 4:
        return []
    partition = radon_partition(X)
    marks: list[Any] = []
    for rows, color in ((partition.positive, class_color(1)), (partition.negative, class_color(0))):
        hull = X[[*rows, rows[0]]]
        marks.append(
            Curve(hull[:, 0], hull[:, 1], color=color, width=1.6, dash="dashed", label="hulls that meet (Radon)")
        )
    place = [float(v) for v in partition.point]
    return [*marks, Dots([place[0]], [place[1]], marker="x", size=14.0, label="common point")]


def _counts(n: int, family: str, found: int) -> Picture:
    """Return the number of labelings against the number of points: 2^n, and Sauer's bound from the VC dimension on."""
    ns = np.arange(1, LARGEST + 1)
    bound = np.array([sauer(int(k), int(vc_dimension(family, d=2))) for k in ns], dtype=float)
    marks = (
        Curve(ns.astype(float), 2.0**ns, dash="dashed", label="2ⁿ"),
        Curve(ns.astype(float), bound, color=class_color(0), label="Sauer's bound"),
        Dots([float(n)], [float(found)], color=class_color(1), size=11.0, label="these points"),
    )
    return Picture(f"{counted(found, 'labeling')} realized", "points n", "labelings", marks, show_points=False)


SCENES = (
    Scene(
        "shattering",
        "VC shattering game",
        "Ideas",
        "none",
        "Place a few points: the lab realizes every labeling, or shows one that cannot be realized.",
        shattering_frames,
        (
            Choice(
                "family",
                "Class of sets",
                {"half-planes": "half_spaces", "rectangles": "rectangles", "stumps": "stumps"},
                "half_spaces",
            ),
        ),
        "vc",
        "triangle",
    ),
)
