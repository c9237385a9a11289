"""Losses and penalties as an independent solver writes them, and random problems for them."""

import warnings

import cvxpy as cp
import numpy as np

from surefit.checks.gap import Penalty

DELTA, QUANTILE, EPSILON = 1.0, 0.7, 0.3
POWER = 1.5
NUMBERS = {"power": POWER, "delta": DELTA, "quantile": QUANTILE, "epsilon": EPSILON, "p": 2.0}
REGRESSION = {
    "squared_error": lambda y, z: 0.5 * cp.square(z - y),
    "absolute_error": lambda y, z: cp.abs(z - y),
    "huber": lambda y, z: 0.5 * cp.huber(z - y, DELTA),
    "pinball": lambda y, z: QUANTILE * cp.pos(y - z) + (1 - QUANTILE) * cp.pos(z - y),
    "epsilon_insensitive": lambda y, z: cp.pos(cp.abs(z - y) - EPSILON),
    "squared_epsilon_insensitive": lambda y, z: cp.square(cp.pos(cp.abs(z - y) - EPSILON)),
    "lp": lambda y, z: cp.square(z - y),
}
COUNTS = {
    "poisson": lambda y, z: cp.exp(z) - cp.multiply(y, z) + cp.Constant(_entropy(y)),
    "tweedie": lambda y, z: 2 * cp.exp(z / 2) + 2 * cp.multiply(y, cp.exp(-z / 2)) - cp.Constant(4 * np.sqrt(y)),
}
MARGIN = {
    "hinge": lambda y, z: cp.pos(1 - cp.multiply(y, z)),
    "squared_hinge": lambda y, z: cp.square(cp.pos(1 - cp.multiply(y, z))),
    "modified_huber": lambda y, z: 2 * cp.huber(cp.pos(1 - cp.multiply(y, z)), 2.0) * 0.5,
    "perceptron": lambda y, z: cp.pos(-cp.multiply(y, z)),
    "logistic": lambda y, z: cp.logistic(-cp.multiply(y, z)),
    "exponential": lambda y, z: cp.exp(-cp.multiply(y, z)),
}
LOSSES = {**REGRESSION, **COUNTS, **MARGIN}
KINKED = ("absolute_error", "pinball", "epsilon_insensitive", "hinge", "perceptron")
PENALTIES = {
    "l1": dict(l1=2.0),
    "l2": dict(l2=1.5),
    "elastic net": dict(l1=1.0, l2=0.7),
    "none": {},
    "l1 factors": dict(l1=2.0, factors=[0, 1, 2, 0.5, 1, 1, np.inf, 3]),
    "elastic net factors": dict(l1=1.0, l2=0.5, factors=[0, 0, 1, 2, 0.5, 1, 1, 1]),
    "positive l1": dict(l1=1.0, positive=True),
    "positive l2": dict(l2=1.0, positive=True),
    "l1 ball": dict(l1=1.0, radius=0.8),
    "box": dict(l2=0.1, box=0.3),
}


def _entropy(y):
    return np.where(y > 0, y * np.log(np.where(y > 0, y, 1.0)), 0.0) - y


def penalty_of(d, l1=0.0, l2=0.0, factors=None, positive=False, radius=None, box=None):
    """The checker's penalty."""
    f = np.ones(d) if factors is None else np.asarray(factors, dtype=float)
    out = np.isinf(f)
    finite = np.where(out, 0.0, f)
    box = None if box is None else np.full(d, box)
    return Penalty(np.where(out, np.inf, finite * l1), finite * l2, positive, box, radius)


def cvx_penalty(p, w):
    """The same for cvxpy: objective and constraints."""
    out = p.excluded
    l1 = np.where(out, 0.0, p.l1)
    size = l1 @ cp.abs(w) + 0.5 * p.l2 @ cp.square(w)
    constraints = [w[np.flatnonzero(out)] == 0] if out.any() else []
    if p.positive:
        constraints.append(w >= 0)
    if p.box is not None:
        constraints.append(cp.abs(w) <= p.box)
    if p.radius is not None:
        return 0.0, [*constraints, size <= p.radius]
    return size, constraints


def targets(name, scores, rng):
    """Targets of the right kind."""
    noise = rng.standard_t(3, size=len(scores)) * 0.5
    if name in MARGIN:
        return np.where(scores + 2 * noise > 0, 1.0, -1.0)
    if name in COUNTS:
        return rng.poisson(np.exp(np.clip(scores, -3, 3))).astype(float)
    return scores + noise


def solved(problem):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may stop short of eleven digits; eight are needed
        problem.solve(solver="CLARABEL", tol_gap_abs=1e-11, tol_gap_rel=1e-11, tol_feas=1e-11)
    return float(problem.value)


def optimum(name, p, X, y, c, intercept):
    """Return (min P, w, b, dual variables g) by an independent solver."""
    d, n = X.shape[1], X.shape[0]
    w, b = cp.Variable(d), cp.Variable() if intercept else 0.0
    z = cp.Variable(n)
    link = z == X @ w + b
    size, constraints = cvx_penalty(p, w)
    problem = cp.Problem(cp.Minimize(c @ LOSSES[name](y, z) + size), [link, *constraints])
    best = solved(problem)
    used = np.where(c > 0, c, 1.0)
    g = -np.asarray(link.dual_value) / used  # the multiplier of the link is minus the weighted slope, up to its sign
    return best, np.asarray(w.value), float(b.value) if intercept else 0.0, g


def objective(name, p, X, y, c, w, b):
    """P(w, b) by cvxpy's formulas."""
    z = np.asarray(X @ w).ravel() + b
    value = float(c @ LOSSES[name](y, cp.Constant(z)).value)
    return value if p.radius is not None else value + float(np.sum(p.value(w)))
