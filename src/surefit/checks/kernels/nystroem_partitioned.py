r"""Checks of fits in the span of landmarks whose dual point consists of the derivatives of the losses at the scores.

The model and the width over which a kink is smoothed determine the dual point, so no number per row is stored, and every
partition recomputes its dual variables. Rows are read in partitions of equal length, counted from the first row
(:mod:`surefit.operators.aligned`). Groups of rows therefore do not depend on the partitions, and rows in memory give the same
bits. Scores are enclosed from kernel values and coefficients. Any numbers in the domain of the conjugate losses are a dual
point, so the rounding of the solver's features does not matter.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, Bound, Enclosed, upper_sum
from surefit.checks.gap import rows as loss_rows
from surefit.checks.gap.losses import LOSSES
from surefit.checks.kernels.landmarks import Image, Landmarks, group_length
from surefit.checks.kernels.logistic import intercepts
from surefit.checks.kernels.model import class_codes, require_no_intercept
from surefit.checks.kernels.operator import Gram
from surefit.checks.kernels.softmax import (
    column_sums,
    constant_row,
    divergences,
    indicators,
    log_probabilities,
    mixed_moves,
    row_moves,
)
from surefit.checks.kernels.subset_gap import Found, Problem
from surefit.checks.kernels.values import kernel_of
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.partitioned import Part, add
from surefit.core.sample import Data, read_target
from surefit.kernels import Kernel
from surefit.operators.aligned import aligned, rows_at
from surefit.problems import labels

COARSE, FINE = 16, 8  # grids of multiples of the dual point, the finer one around the best multiple


class Setting(NamedTuple):
    """Data that a partition needs to rebuild its dual variables and terms."""

    problem: dict[str, Any]
    kernel: Kernel
    indices: np.ndarray  # row indices of the landmarks
    marks: np.ndarray  # the landmarks
    lines: np.ndarray  # their coefficients, one line per function
    offsets: np.ndarray  # intercepts
    widths: np.ndarray  # smoothing widths of the losses, one per problem
    span: Landmarks
    group: int  # number of rows per group
    groups: int  # upper bound on the number of groups

    @property
    def joint(self) -> bool:
        """Whether all functions belong to one problem."""
        return self.problem.get("loss") == "softmax"

    @property
    def strength(self) -> float:
        """Weight of half the squared norm."""
        return float(self.problem.get("alpha", 1.0))


class Terms(NamedTuple):
    """Sums over rows: images of the dual points, norms of their errors, and Fenchel-Young terms at multiples of the dual points."""

    images: tuple[Image, ...]  # one per function
    slips: np.ndarray  # one row per problem: distance to a feasible point, and to the point of another evaluation
    young: np.ndarray  # (problems, multiples, 3): upper bound, upper bound for another evaluation, value


class Local(NamedTuple):
    """Dual variables of a partition in one problem, with two error radii, and its Fenchel-Young terms."""

    theta: np.ndarray  # one column per function
    rad: np.ndarray  # some feasible point is within this radius
    slip: np.ndarray  # the point of another evaluation is within this radius
    sums: Any  # sums that an intercept requires to be zero
    young: Any  # Fenchel-Young terms as a function of the multiple


def examine_aligned(certificate: Certificate, data: Data) -> list[Found]:
    """Bound P - min P of every problem by passes over the rows."""
    rows = aligned(data.X, data.y, data.weights)
    setting = _setting(certificate, data, rows)
    count = 1 if setting.joint else len(setting.lines)
    depth = 2 + math.ceil(math.log2(max(len(rows.lengths), 1)))
    balance = _balance(rows, setting, depth) if setting.problem["fit_intercept"] else [None] * count
    scales = np.broadcast_to(np.arange(COARSE + 1) / COARSE, (count, COARSE + 1))
    found: Terms = rows.map_reduce(_terms, setting, balance, scales)
    largest = float(np.max(setting.span.gram.lengths()))
    images = [image.rounded(largest) for image in found.images]
    young = [_bounds(own, some, depth) for own, some in zip(scales, found.young, strict=True)]
    problems = []
    for k, (slip, other) in enumerate((found.slips * (1 + 2 * depth * UNIT)).tolist()):
        own = slice(None) if setting.joint else slice(k, k + 1)
        problems.append(
            Problem(
                setting.span, setting.lines[own], images[own], slip / setting.strength, setting.strength,
                young[k].__getitem__, 2.0 if "alpha" in setting.problem else 1.0, other / setting.strength,
            )
        )  # fmt: skip
    best = np.array([_best(p, table)[1] for p, table in zip(problems, young, strict=True)])
    scales = np.clip(best[:, None] + np.arange(1 - FINE, FINE) / (COARSE * FINE), 0.0, 1.0)
    for table, own, some in zip(young, scales, rows.map_reduce(_young, setting, balance, scales), strict=True):
        table.update(_bounds(own, some, depth))
    return [p.found(_best(p, table)[0]) for p, table in zip(problems, young, strict=True)]


def _best(problem: Problem, scales: Iterable[float]) -> tuple[Bound, float]:
    """Return the smallest gap over the multiples, and the multiple at which it is attained."""
    return min(((problem.gap(scale), scale) for scale in scales), key=lambda found: found[0].value)


def _bounds(scales: np.ndarray, sums: np.ndarray, depth: int) -> dict[float, Bound]:
    up = 1 + 2 * depth * UNIT
    return {
        scale: Bound(upper * up, other * up - plain)
        for scale, (upper, other, plain) in zip(scales.tolist(), sums.tolist(), strict=True)
    }


def _setting(certificate: Certificate, data: Data, rows: Any) -> Setting:
    """Read the model and the witness of a certificate."""
    problem, n, witness = certificate.problem, data.X.shape[0], certificate.claims[0].witness
    lines = np.atleast_2d(np.asarray(certificate.model["dual_coef_"], dtype=np.float64))
    indices, widths = np.asarray(certificate.model["landmarks_"]), np.asarray(witness["width"], dtype=np.float64)
    if indices.dtype.kind not in "iu" or lines.shape[1:] != indices.shape or not np.all(np.isfinite(lines)):
        raise CertificateError("dual_coef_ must have one finite number per landmark.")
    if not (np.all(np.diff(indices) > 0) and 0 <= indices[0] and indices[-1] < n):
        raise CertificateError("The landmarks must be different rows of X, in ascending order.")
    marks, kernel = rows_at(rows, indices), kernel_of(certificate)
    stored = getattr(certificate.subject, "X_fit_", marks)
    stored = stored.toarray() if hasattr(stored, "toarray") else stored
    if not np.array_equal(stored, marks):
        raise CertificateError(
            f"{certificate.estimator}: X_fit_ are not the training rows that the model was fitted on."
        )
    classes = len(problem.get("classes", ()))
    count = classes if classes > 2 else 1
    if "alpha" in problem:
        require_no_intercept(certificate)
        offsets = np.ravel(np.asarray(certificate.model["intercept_"], dtype=np.float64))
    else:
        class_codes(certificate, data)
        offsets = np.asarray(intercepts(certificate, len(lines)))
    if len(lines) != count or offsets.shape != (count,) or not np.all(np.isfinite(offsets)):
        raise CertificateError(f"The problem has {count} functions, each with a finite intercept.")
    if widths.shape != (1 if problem.get("loss") == "softmax" else count,) or not np.all(
        (widths >= 0) & np.isfinite(widths)
    ):
        raise CertificateError("The witness needs one finite width per problem.")
    span = Landmarks.of(Gram(kernel, kernel.read(marks)), np.arange(len(marks)), int(witness["rank"]))
    group = group_length(n, problem["dual"])
    return Setting(
        problem, kernel, indices, marks, lines, offsets, widths, span, group, -(-n // group) + len(rows.lengths)
    )


def _scores(part: Part, setting: Setting) -> tuple[Landmarks, Enclosed]:
    """Return the landmarks with the kernel values of a partition, and the enclosed values of the functions at its rows."""
    n, indices = len(part.X), setting.indices
    inside = (indices >= part.start) & (indices < part.start + n)
    where = np.where(inside, indices - part.start, n + np.cumsum(~inside) - 1)
    gram = Gram(setting.kernel, setting.kernel.read(np.concatenate([part.X, setting.marks[~inside]])))
    C = np.zeros((gram.n, len(setting.lines)))
    C[where] = setting.lines.T
    return setting.span._replace(gram=gram, rows=where), gram.times(C, np.arange(n))


def _problems(part: Part, setting: Setting, F: Enclosed, balance: list[Any]) -> list[Local]:
    problem = setting.problem
    s = np.ones(len(part.X)) if part.weights is None else part.weights
    assert part.y is not None
    y = read_target(part.y)
    if "alpha" in problem:
        return [_scalar(setting, F, 0, "squared_error", np.asarray(y, dtype=np.float64), s, balance[0])]
    codes = labels.class_codes(y, problem["classes"])
    c = problem["C"] * (np.asarray(problem["class_weights"])[codes] * s)
    if setting.joint:
        return [_joint(setting, F, codes, c, balance[0])]
    positives = [1] if len(setting.lines) == 1 else range(len(setting.lines))
    return [
        _scalar(setting, F, k, problem["loss"], np.where(codes == positive, 1.0, -1.0), c, balance[k])
        for k, positive in enumerate(positives)
    ]


def _scalar(setting: Setting, F: Enclosed, k: int, name: str, y: np.ndarray, c: np.ndarray, factors: Any) -> Local:
    """Return the dual variables and terms of a loss of one score; ``factors`` scale the two signs so that the sum is zero."""
    loss, b, width = LOSSES[name](setting.problem), float(setting.offsets[k]), float(setting.widths[k])
    f, off = F.mid[:, k], F.rad[:, k]
    z = Enclosed(f + b, off + 4 * UNIT * (np.abs(f) + abs(b)))
    g = loss_rows.slopes(loss, y, z.mid, width)[0]
    slip = c * loss_rows.slope_moves(loss, y, z.mid, width, g, 2 * z.rad)
    theta = np.where(c > 0, -c * g, 0.0) * (1 - 16 * UNIT)  # stays in the domain despite rounded weights
    sums = np.array([*loss_rows.side_sums(theta), upper_sum(slip)])
    up, down, rounding, drift = factors or (1.0, 1.0, 2 * UNIT, 0.0)
    theta = theta * np.where(theta > 0, up, down)
    rad, slip = rounding * np.abs(theta), slip + drift * np.abs(theta)
    share, share_rad, share_slip = (
        np.divide(part, c, out=np.zeros(len(c)), where=c > 0) for part in (-theta, rad, slip)
    )

    def young(scale: float) -> tuple[float, float, float]:
        rest = scale * share_rad + 4 * UNIT * np.abs(share)
        terms = (loss, y, c, z.mid, z.rad, scale * share, rest, 2 * z.rad, rest + scale * share_slip)
        plain, upper, other = loss_rows.row_terms(*terms)
        return upper_sum(upper) * (1 + 8 * UNIT), upper_sum(other) * (1 + 8 * UNIT), math.fsum(plain)

    return Local(theta[:, None], rad[:, None], slip[:, None], sums, young)


def _joint(setting: Setting, F: Enclosed, codes: np.ndarray, c: np.ndarray, constant: Any) -> Local:
    """Return the dual variables and terms of the softmax; mixing in a ``constant`` row makes the column sums zero."""
    Y, (log_p, off) = indicators(codes, len(setting.lines)), log_probabilities(F, setting.offsets)
    Q = np.exp(log_p)
    Q = Q / Q.sum(axis=1, keepdims=True)
    moved, away = row_moves(Q), Q * np.expm1(4 * off)
    sums = (*column_sums(Q, Y, c, moved), c @ (Y + Q), math.fsum(c))
    moved = moved if constant is None else mixed_moves(Q, moved, *constant)

    def young(scale: float) -> tuple[float, float, float]:
        at = Y + scale * (Q - Y)
        near = upper_sum(c * np.sum(divergences(at, moved + 8 * UNIT, log_p, off), axis=1)) * (1 + 64 * UNIT)
        wide = divergences(at, 3 * (moved + 8 * UNIT) + away, log_p, 3 * off)
        far = upper_sum(c * np.sum(wide, axis=1)) * (1 + 64 * UNIT)
        return near, far, near * (1 - 64 * UNIT)

    rad = c[:, None] * (moved + 8 * UNIT * (Y + Q))
    return Local(c[:, None] * (Y - Q), rad, 2 * rad + c[:, None] * away, sums, young)


def _balance(rows: Any, setting: Setting, depth: int) -> list[Any]:
    """Return the factors, or the constant row, with which the dual variables of each problem sum to zero."""
    found = rows.map_reduce(_sums, setting)
    if setting.joint:
        ((lacking, noise, sums, sizes, total),) = found
        noise = (noise + (depth + 4) * UNIT * sizes) * (1 + 4 * depth * UNIT)  # rounding of the sums over partitions
        constant = constant_row(lacking, noise, sums, float(total) * (1 - 4 * depth * UNIT))
        if constant is None:
            raise CertificateError("The dual point has no probability for some class.")
        return [constant]
    factors = []
    for up, down, slip in (own.tolist() for own in found):
        small, large = min(up, -down), max(up, -down)
        share = small / large if large > 0 else 1.0
        drift = 2 * slip / small if small > 0 else 0.0
        rounding = (12 + 2 * depth) * UNIT
        factors.append((share if up > -down else 1.0, share if up < -down else 1.0, rounding, drift))
    return factors


def _sums(part: Part, setting: Setting) -> tuple[Any, ...]:
    F, count = _scores(part, setting)[1], 1 if setting.joint else len(setting.lines)
    return tuple(own.sums for own in _problems(part, setting, F, [None] * count))


def _terms(part: Part, setting: Setting, balance: list[Any], scales: np.ndarray) -> Terms:
    span, F = _scores(part, setting)
    own, n = _problems(part, setting, F, balance), len(part.X)
    lengths = span.gram.lengths()[:n, None]
    slips = [[upper_sum((values * lengths).ravel()) for values in (one.rad, one.slip)] for one in own]
    images = tuple(_image(span, theta / setting.strength, setting) for one in own for theta in one.theta.T)
    return Terms(images, np.array(slips) * (1 + 8 * UNIT), _at(own, scales))


def _image(span: Landmarks, theta: np.ndarray, setting: Setting) -> Image:
    """Approximate the function that the dual variables of a partition represent, group by group."""
    m = len(span.rows)
    found = Image(np.zeros(m), Enclosed(np.zeros(m), np.zeros(m)), Bound(0.0, 0.0))
    for start in range(0, len(theta), setting.group):
        used = start + np.flatnonzero(theta[start : start + setting.group])
        if len(used):
            full = np.concatenate([theta, np.zeros(span.gram.n - len(theta))])
            found = add(found, span.group(full, used, setting.groups))
    return found


def _young(part: Part, setting: Setting, balance: list[Any], scales: np.ndarray) -> np.ndarray:
    return _at(_problems(part, setting, _scores(part, setting)[1], balance), scales)


def _at(problems: list[Local], scales: np.ndarray) -> np.ndarray:
    return np.array([[one.young(scale) for scale in own] for one, own in zip(problems, scales.tolist(), strict=True)])
