"""What a fit states against what another evaluation proves, on random problems: ``python -m tests.reliability.statements 10000``.

A statement is the proved gap plus 2.5 times its spread. The same model is then proved again with rows and columns in another order,
as another machine might add them up: that bound must not exceed the statement. The looseness of statements is printed.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np
from scipy import sparse
from tests.reliability.results import write

from surefit import losses
from surefit.checks.gap import Dual, Penalty, Point, loss_of, operator_of, prove
from surefit.core.budget import Budget
from surefit.core.centering import moved_intercept
from surefit.losses import curvature
from surefit.problems.terms import loss_numbers
from surefit.solvers.barrier import PenaltyTerms, minimize

BOTH_ROUNDINGS = 2.5
LOSSES = (
    losses.Squared(), losses.Absolute(), losses.Huber(1.0), losses.Pinball(0.7), losses.EpsilonInsensitive(0.3),
    losses.SquaredEpsilonInsensitive(0.3), losses.Hinge(), losses.SquaredHinge(), losses.ModifiedHuber(), losses.Logistic(),
    losses.Poisson(), losses.ExponentialLoss(),
)  # fmt: skip


class Problem(NamedTuple):
    """A random problem and a point that a solver found for it."""

    X: np.ndarray
    y: np.ndarray
    c: np.ndarray
    loss: object
    penalty: Penalty
    w: np.ndarray
    b: float
    intercept: bool
    dual: np.ndarray | None
    is_sparse: bool


def draw(rng: np.random.Generator, k: int) -> Problem:
    """Draw problem number ``k``: scales 1e-6 to 1e6, offsets of 1e7, zero weights, free and positive columns."""
    loss = LOSSES[k % len(LOSSES)]
    n, d = int(rng.integers(10, 60)), int(rng.integers(1, 8))
    is_sparse, intercept = rng.random() < 0.35, bool(rng.random() < 0.7)
    S = rng.normal(size=(n, d)) * (rng.random((n, d)) < 0.3 if is_sparse else 1.0)
    scale = 10.0 ** rng.uniform(-6, 6, d)
    offset = np.where(rng.random(d) < 0.3, rng.choice([1e3, 1e7], d), 0.0) * (intercept and not is_sparse)
    X = S * scale + offset
    scores = S @ (rng.normal(size=d) * (rng.random(d) < 0.5))
    if losses.is_margin_loss(loss):
        y = np.where(scores + rng.normal(size=n) > 0, 1.0, -1.0)
    elif isinstance(loss, losses.Poisson):
        y = rng.poisson(np.exp(np.clip(scores, -3, 3))).astype(float)
    else:
        y = scores + 0.5 * rng.standard_t(3, size=n)
    c = 10.0 ** rng.uniform(-2, 2) * np.where(rng.random(n) < 0.1, 0.0, rng.random(n) + 0.1) / n
    c[:2] = c.max() + 1e-3
    kind, weight = rng.choice(["l1", "l2", "both"]), 10.0 ** rng.uniform(-3, 0) * c.sum()
    free = rng.random(d) < 0.1
    l1 = np.where(free, 0.0, weight * scale * (kind != "l2"))
    l2 = np.where(free, 0.0, weight * scale**2 * (kind != "l1"))
    terms = PenaltyTerms(l1, l2, bool(rng.random() < 0.1))
    rows = sparse.csr_array(X) if is_sparse else X
    tol = 10.0 ** rng.uniform(-9, -2)
    found = minimize(rows, y, c, loss, terms, intercept=intercept, tol=tol, budget=Budget(int(rng.choice([5, 200]))))
    dual = None if type(loss) in curvature.classes else found.dual
    return Problem(
        X, y, c, loss, Penalty(l1, l2, terms.positive), found.coef, found.intercept, intercept, dual, is_sparse
    )


def proved(problem: Problem, rows: np.ndarray, columns: np.ndarray):
    """Prove the gap with rows and columns in the given order."""
    p = problem
    X, w = p.X[rows][:, columns], p.w[columns]
    penalty = p.penalty._replace(l1=p.penalty.l1[columns], l2=p.penalty.l2[columns])
    shift, b, rad = None, p.b, 0.0
    if p.intercept and not p.is_sparse:
        shift = np.median(X, axis=0)
        b = moved_intercept(p.b, shift, w)
        rad = 2.0**-52 * abs(b)
    point = Point(p.y[rows], p.c[rows], w, b, p.intercept, rad)
    dual = Dual(None if p.dual is None else p.dual[rows])
    operator = operator_of(sparse.csr_array(X) if p.is_sparse else np.asfortranarray(X), shift)
    return prove(operator, loss_of(loss_numbers(p.loss)), penalty, point, dual)


def run(count: int, seed: int = 0) -> tuple[int, list, np.ndarray]:
    """Return the number of problems, those whose statement another evaluation does not prove, and statement / proved."""
    rng, bad, looseness = np.random.default_rng(seed), [], []
    for k in range(count):
        problem = draw(rng, k)
        n, d = problem.X.shape
        first = proved(problem, np.arange(n), np.arange(d))
        stated = first.value + BOTH_ROUNDINGS * first.spread
        again = proved(problem, rng.permutation(n), rng.permutation(d))
        if not again.value <= stated:
            bad.append((k, type(problem.loss).__name__, stated, again.value, first.value, first.spread))
        looseness.append((stated / max(again.value, 1e-300), again.value / max(again.objective, 1e-300)))
    return count, bad, np.array(looseness)


def main() -> int:
    """Print the counts and the looseness."""
    count, bad, ratios = run(
        int(sys.argv[1]) if len(sys.argv) > 1 else 500, int(sys.argv[2]) if len(sys.argv) > 2 else 0
    )
    write("statements", "gaps of random problems, proved again in another order of rows and columns", count, len(bad))
    print(f"{count} problems, {len(bad)} statements that another evaluation does not prove")
    for line in bad[:20]:
        print("  ", line)
    for name, low, high in (
        ("above 1e-9 P", 1e-9, np.inf),
        ("1e-13 to 1e-9 P", 1e-13, 1e-9),
        ("below 1e-13 P", 0.0, 1e-13),
    ):
        inside = ratios[(ratios[:, 1] > low) & (ratios[:, 1] <= high), 0]
        if len(inside):
            print(
                f"gaps {name}: {len(inside)}, statement/proved median {np.median(inside):.3g}, 90% {np.quantile(inside, 0.9):.3g}"
            )
    return bool(bad)


if __name__ == "__main__":
    raise SystemExit(main())
