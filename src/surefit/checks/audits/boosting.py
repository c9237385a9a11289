r"""Checks of other libraries' boosted trees: paths, gradients, leaf values and the loss of all rounds are recomputed.

With gradients g and second derivatives h at the current scores, a leaf must hold :math:`-\nu \sum g / (\kappa \sum h +
\lambda)`; the factor :math:`\kappa` of the second derivatives depends on the library (theory: ``boosted-trees``).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.audits.reading import inner
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.ensembles.losses import derivatives, gradient_terms, loss_values
from surefit.checks.ensembles.packed import leaves_of, packed_trees
from surefit.checks.judge import AtMost, Proof, claim, shared
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.problems.labels import class_codes

SINGLE = 2.0**-24  # libraries may store gradients, scores and leaves in single precision


class Rounds(NamedTuple):
    """Results of repeating all rounds."""

    losses: np.ndarray
    worst: float  # largest deviation of a leaf from its Newton step, relative to the largest leaf
    rounding: float  # in it
    single: float  # the rounding that single precision may cause
    score_rounding: float  # rounding of the mean loss caused by that of the scores


@claim(
    "audit.boosting.leaves",
    kind="optimality",
    side="upper",
    theory="boosted-trees",
    about="every leaf, given its rows",
    says="Every leaf contains the Newton step of its rows, up to {value:.3g} of the largest leaf.",
)
def leaves(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that every leaf contains the Newton step of its rows, up to ``value`` (relative to the largest leaf)."""
    found = rounds_of(certificate, data)
    note = "gradients of every round were summed over every leaf."
    return Proof(found.worst + found.rounding, "recomputed", note, limit=8 * found.single, spread=found.rounding)


def _of_loss(claim: Claim) -> str:
    z = claim.numbers
    return f"After {z['rounds']} rounds the mean loss is at most {claim.value:.6g}; it increased in at most {z['rises']:.0f} of them."


@claim("audit.boosting.loss", kind="data_fact", side="upper", theory="boosted-trees", says=_of_loss)
def loss(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the mean training loss is at most ``value`` and increased in no more rounds than stated."""
    found = rounds_of(certificate, data)
    off = found.score_rounding + gamma(data.X.shape[0] + 64) * float(found.losses[-1])
    near, far = (int(np.sum(np.diff(found.losses) > -times * off)) for times in (2, 6))  # for another evaluation
    numbers = {"rounds": len(found.losses) - 1, "rises": AtMost(float(near), (far - near) / 2.5)}
    note = f"{len(found.losses) - 1} rounds repeated; the loss increased in at most {near}."
    return Proof(float(found.losses[-1]) + off, "recomputed", note, numbers, spread=off)


for _name, _says in (
    (
        "sampled",
        "Each round used a random subsample of rows, which the model does not store, so leaves cannot be compared.",
    ),
    ("others", "Nothing is claimed about other trees."),
):
    register(Entry(f"audit.boosting.{_name}", kind="no_claim", side="none", says=_says))


@shared
def rounds_of(certificate: Certificate, data: Data) -> Rounds:
    """Return the results of repeating the fit round by round."""
    read_as, rows = inner(certificate, data)
    return _repeat(read_as, rows)


def _repeat(read_as: Certificate, rows: Data) -> Rounds:
    problem, model = read_as.problem, read_as.model
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    s = np.ones(len(X)) if rows.weights is None else rows.weights
    y = (
        np.asarray(rows.target, dtype=np.float64)
        if problem["classes"] is None
        else class_codes(rows.target, read_as.problem["classes"]).astype(float)
    )
    z = np.tile(np.asarray(model["baseline_"], dtype=np.float64)[:, None], (1, len(X)))
    losses, worst, rounding, single, total = [], 0.0, 0.0, 0.0, math.fsum(s)
    everyone = np.arange(len(X))
    sums = gamma(2 * len(X) + 16)
    floor = sums * (float(np.max(np.abs(y), initial=0.0)) or 1.0)  # trees without a split contain rounding errors only
    largest = max(float(np.max(np.abs(model["tree_value_"]), initial=0.0)), floor)
    trees = packed_trees(model, X.shape[1])
    if problem["folded"]:
        z = np.tile(_constants(problem, y, s)[:, None], (1, len(X)))
        for k, tree in enumerate(trees[: problem["scores"]]):
            trees[k] = tree._replace(value=np.where(tree.feature[:, None] < 0, tree.value - z[k, 0], 0.0))
        largest = max(floor, *(float(np.max(np.abs(tree.value), initial=0.0)) for tree in trees))
    for first in range(0, len(trees), problem["scores"]):
        g, h = derivatives(problem, y, z)
        losses.append(math.fsum(s * loss_values(problem, y, z)) / total)
        for k, tree in enumerate(trees[first : first + problem["scores"]]):
            leaf, size = leaves_of(X, everyone, tree), len(tree.feature)
            G, H = (np.bincount(leaf, weights=s * v[k], minlength=size) for v in (g, h))
            own = (tree.feature < 0) & (np.bincount(leaf, weights=s, minlength=size) > 0)
            step = -problem["rate"] * G[own] / (problem["curvature"] * H[own] + problem["l2"] + np.finfo(float).tiny)
            worst = max(worst, float(np.max(np.abs(tree.value[own, 0] - step), initial=0.0)) / largest)
            slip = _slip(z, len(losses))
            off = (
                _step_rounding(problem, s, g[k], h[k], leaf, size, *unit)
                for unit in ((sums, slip), (SINGLE, slip * SINGLE / UNIT))
            )
            rounding, single = (
                max(kept, new[own].max(initial=0.0)) for kept, new in zip((rounding, single), off, strict=True)
            )
            z[k] += tree.value[leaf, 0]
    losses.append(math.fsum(s * loss_values(problem, y, z)) / total)
    steep = float(np.max(np.abs(derivatives(problem, y, z)[0]), initial=0.0))
    slip = _slip(z, len(losses))
    return Rounds(
        np.array(losses),
        worst,
        float(rounding) / largest,
        float(single) / largest + SINGLE,
        slip * (steep + slip) * len(z),
    )


def _slip(z: np.ndarray, rounds: int) -> float:
    """Bound the difference between the scores of two evaluations after some rounds of additions."""
    return 4 * UNIT * (rounds + 2) * (float(np.max(np.abs(z), initial=0.0)) + 1.0)


def _step_rounding(
    problem: dict[str, Any], s: Any, g: Any, h: Any, leaf: Any, size: int, sums: float, slip: float
) -> np.ndarray:
    """Bound the rounding of every leaf's step: of both sums, and of derivatives at scores that are off by ``slip``."""
    terms = gradient_terms(problem, g, h)
    G, size_of_g, H, mass = (np.bincount(leaf, weights=w, minlength=size) for w in (s * g, s * terms, s * h, s))
    top, bottom = sums * size_of_g + slip * mass, problem["curvature"] * (sums * H + slip * mass)
    down = problem["curvature"] * H + problem["l2"] + np.finfo(float).tiny
    return problem["rate"] * (top + np.abs(G) / down * bottom) / down


def _constants(problem: dict[str, Any], y: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Return the best constant scores, which LightGBM adds to the leaves of its first trees."""
    if problem["loss"] == "squared_error":
        return np.array([s @ y / math.fsum(s)])
    shares = np.bincount(y.astype(int), weights=s) / math.fsum(s)
    return np.log(shares) if problem["scores"] > 1 else np.log(shares[1:] / shares[:1])
