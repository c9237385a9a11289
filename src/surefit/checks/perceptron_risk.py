r"""Checks the risk bound of an online perceptron by walking its first pass again, row by row, from the data alone.

Each row is tested by weights that saw only earlier rows, so mistakes of the first pass are progressive errors. Somebody
who bets against a mean risk of :math:`p` at rates :math:`\lambda` fixed beforehand ends, after :math:`q T` errors on
:math:`T` rows, with the capital :math:`e^{-\lambda q T} (1 - p (1 - e^{-\lambda}))^{-T}`; with probability at least
:math:`1 - \delta` the mean capital over all rates stays below :math:`1/\delta` for the true :math:`p`. So a risk at which it
is larger is refuted (theory: ``progressive-validation``).
"""

from __future__ import annotations

import math

import numpy as np
from scipy import sparse

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT
from surefit.checks.perceptron import log_of, path_of
from surefit.checks.perceptron_replay import Path, squared_lengths
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

GRID, LARGEST_RATE = 24, 8.0  # the values of lambda that may be tried


@checker("perceptron.risk")
def check_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mistakes of the first pass were counted right, and the bound follows from them."""
    order = claim.witness.get("order", np.arange(data.X.shape[0]))
    if len(np.unique(order)) != len(order):
        return Finding(claim.name, claim.value, 1.0, False, "exact", "the first pass visited a row twice.")
    problem = certificate.problem
    if problem["multi_class"] == "joint":
        mistaken = _joint_first_pass(certificate, data, order)
    else:
        mistaken = np.zeros(data.X.shape[0], dtype=bool)
        for p in range(len(problem["positives"])):
            one = Claim("perceptron.replay", "process_fact", "", numbers={"problem": p})
            path, factors = path_of(certificate, one, data), log_of(certificate, one).get("factors")
            minus, plus = problem["steps"][p]
            mistaken |= first_pass(path, order, minus, plus, factors)
    errors, n = int(mistaken.sum()), len(order)
    capital = log_capital(claim.value, errors, n, claim.numbers["delta"])
    wanted = -math.log(claim.numbers["delta"])
    ok = errors <= claim.numbers["errors"] and (claim.value >= 1.0 or capital >= wanted)
    message = f"{errors} of {n} rows were mistaken when first met; the bound holds if the assumptions do."
    if not ok:
        message = f"{errors} of {n} rows were mistaken when first met: too many for the bound."
    return Finding(claim.name, claim.value, claim.value if ok else 1.0, ok, "enclosed", message)


def log_capital(p: float, errors: int, n: int, delta: float) -> float:
    """Logarithm of the mean capital of bets against a mean risk of ``p``; the rates depend on ``n`` and ``delta`` only."""
    smallest = min(1.0, math.sqrt(-8 * math.log(delta) / n))
    rates = np.geomspace(smallest, LARGEST_RATE, GRID)
    exponents = -rates * errors - n * np.log1p(p * np.expm1(-rates)) if p < 1 else np.array([math.inf])
    top = float(np.max(exponents))
    return top + math.log(float(np.mean(np.exp(exponents - top)))) if top < math.inf else top


def first_pass(path: Path, order: np.ndarray, step_minus: float, step_plus: float, factors=None) -> np.ndarray:
    """Walk the first pass of a two-class problem; marks the rows with a margin <= 0 when they were met.

    ``factors`` are those of a step schedule, one an update.
    """
    w, b = path.w.astype(np.float64), float(path.b)
    mistaken = np.zeros(path.X.shape[0], dtype=bool)
    longest = math.sqrt(float(np.max(squared_lengths(path.X, path.bias_step).mid)))
    place, window = 0, 64
    while place < len(order):
        rows = order[place : place + window]
        part = path.X[rows]
        scores = np.asarray(part @ w).ravel() + b
        margins = path.t[rows] * scores
        size = math.sqrt(float(w @ w) + (b * b / path.bias_step if path.bias_step else 0.0))
        vague = 8 * (path.X.shape[1] + 4) * UNIT * longest * size
        found: int | None = None
        for s in np.flatnonzero(margins <= vague).tolist():
            if margins[s] > -vague:  # too close for two ways of summing: decide by the textbook's, left to right
                margins[s] = path.t[rows[s]] * (_left_to_right(_row(part, s), w) + b)
            if margins[s] <= 0:
                found = s
                break
        if found is None:
            place, window = place + len(rows), min(2 * window, 4096)
            continue
        i = rows[found]
        mistaken[i] = True
        signed = step_plus if path.t[i] > 0 else -step_minus
        signed *= 1.0 if factors is None else float(factors[mistaken.sum() - 1])
        w = np.asarray(w + signed * _row(part, found))
        b = b + signed * path.bias_step
        place, window = place + found + 1, max(16, min(2 * found + 16, window))
    return mistaken


def _joint_first_pass(certificate: Certificate, data: Data, order: np.ndarray) -> np.ndarray:
    """Walk the first pass of the multi-class perceptron."""
    problem, log = certificate.problem, certificate["perceptron.joint_replay"].witness
    codes = np.searchsorted(certificate.model["classes_"], np.asarray(data.y))
    start = log["start"].astype(np.float64)
    W, b = start[:, :-1].copy(), start[:, -1].copy()
    mistaken = np.zeros(data.X.shape[0], dtype=bool)
    longest = math.sqrt(float(np.max(squared_lengths(data.X, problem["bias_step"]).mid)))
    for i in order:
        x, right = _row(data.X[[i]], 0), codes[i]
        scores = W @ x + b
        others = np.delete(scores, right)
        vague = 16 * (len(x) + 4) * UNIT * longest * math.sqrt(float(np.sum(W * W)) + float(np.sum(b * b)))
        if scores[right] - others.max() > vague:
            continue
        scores = np.array([_left_to_right(x, line) for line in W]) + b
        scores[right], own = -math.inf, scores[right]
        rival = int(np.argmax(scores))
        if own - scores[rival] <= 0:
            mistaken[i] = True
            step = problem["joint_steps"][right]
            W[right] += step * x
            W[rival] -= step * x
            b[right] += step * problem["bias_step"]
            b[rival] -= step * problem["bias_step"]
    return mistaken


def _row(part, s: int) -> np.ndarray:
    row = part[[s]].toarray().ravel() if sparse.issparse(part) else part[s]
    return np.asarray(row, dtype=np.float64)


def _left_to_right(x: np.ndarray, w: np.ndarray) -> float:
    total = 0.0
    for a, b in zip(w.tolist(), x.tolist(), strict=True):
        total += a * b
    return total
