"""Sums over the rows of one partition for the interior-point method."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.core.partitioned import Part, by_blocks
from surefit.losses import make_smoothed
from surefit.problems.partitioned import RowTarget
from surefit.solvers.barrier.rows import exact_total, fenchel_young, loss_terms_at


class Setting(NamedTuple):
    """Data that a partition needs in addition to the point."""

    target: RowTarget
    loss: Any
    columns: np.ndarray
    middle: np.ndarray  # subtracted from the columns


class Here(NamedTuple):
    """A point with its Newton step, the weight of the barrier, and whether the dual point uses the derivatives after the step."""

    w: np.ndarray
    b: float
    dw: np.ndarray
    db: float
    mu: float
    after: bool


class Derivatives(NamedTuple):
    """Sums over the rows at a point."""

    objective: float  # before smoothing
    smoothed: float
    up: np.ndarray  # X'g over positive derivatives, and their sum
    down: np.ndarray  # over negative ones
    gram: np.ndarray  # of (X, 1), weighted by the curvatures


def _here(part: Part, setting: Setting) -> tuple[Any, np.ndarray, np.ndarray]:
    make_smoothed(setting.loss)
    X = np.asarray(part.X[:, setting.columns], dtype=np.float64) - setting.middle
    return X, *setting.target.rows(part)


@by_blocks
def derivatives(part: Part, setting: Setting, w: np.ndarray, b: float, mu: float) -> Derivatives:
    """Return the sums that a Newton step needs; every kink of a row is smoothed with ``mu`` times its weight."""
    X, y, c = _here(part, setting)
    z = X @ w + b
    total, g, h = loss_terms_at(setting.loss, y, c, z, mu)
    Z = np.column_stack([X, np.ones(len(y))])
    root = np.sqrt(h)[:, None] * Z
    return Derivatives(
        float(exact_total(setting.loss, y, c, z)),
        float(total),
        np.maximum(g, 0.0) @ Z,
        np.minimum(g, 0.0) @ Z,
        root.T @ root,
    )


@by_blocks
def along(part: Part, setting: Setting, here: Here, steps: np.ndarray, factors: tuple[float, float]) -> np.ndarray:
    """Return the smoothed losses at all step lengths, and the Fenchel-Young terms at the point with derivatives times ``factors``."""
    X, y, c = _here(part, setting)
    z, dz = X @ here.w + here.b, X @ here.dw + here.db
    values = [loss_terms_at(setting.loss, y, c, z + step * dz, here.mu)[0] for step in steps]
    return np.array(
        [*values, fenchel_young(setting.loss, y, c, z, -_scaled(_duals(setting, y, c, z, dz, here), factors))]
    )


def _duals(setting: Setting, y: Any, c: Any, z: Any, dz: Any, here: Here) -> np.ndarray:
    """Return the derivatives; with kinks, those after the Newton step, which satisfy the equality constraints of the dual."""
    _, g, h = loss_terms_at(setting.loss, y, c, z, here.mu)
    return g + h * dz if here.after else g


def _scaled(g: np.ndarray, factors: tuple[float, float]) -> np.ndarray:
    return np.where(g > 0, factors[0], factors[1]) * g


class Sensitive(NamedTuple):
    """Rows whose derivatives change most with their scores."""

    rows: np.ndarray
    slopes: np.ndarray  # derivatives after the step, for rows of weight 1
    bends: np.ndarray


def sensitive(part: Part, setting: Setting, here: Here, count: int) -> Sensitive:
    """Return the ``count`` rows of a partition with the largest curvatures; all rows if there are fewer."""
    X, y, c = _here(part, setting)
    ones, z = np.ones(len(y)), X @ here.w + here.b
    _, g, h = loss_terms_at(setting.loss, y, ones, z, here.mu)
    slopes = g + h * (X @ here.dw + here.db)
    few = np.sort(np.argsort(-h * (c > 0), kind="stable")[:count])
    return Sensitive(few + part.start, slopes[few], h[few])


def keep_sensitive(a: Sensitive, b: Sensitive) -> Sensitive:
    """Merge the rows of two partitions: keep the most sensitive ones, as many as the larger set has."""
    both = Sensitive(*(np.concatenate([x, y]) for x, y in zip(a, b, strict=True)))
    few = np.sort(np.argsort(-both.bends, kind="stable")[: max(len(a.rows), len(b.rows))])
    return Sensitive(*(values[few] for values in both))


@by_blocks
def primal_change(part: Part, setting: Setting, w: np.ndarray, here: Here) -> float:
    """Return the increase of the Fenchel-Young terms if only the coefficients change to ``w``."""
    X, y, c = _here(part, setting)
    z, before = X @ w + here.b, X @ here.w + here.b
    g = _duals(setting, y, c, before, X @ here.dw + here.db, here)
    change = exact_total(setting.loss, y, c, z) - exact_total(setting.loss, y, c, before)
    return float(change - g @ (z - before))
