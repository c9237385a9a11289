r"""Checks of kernel perceptrons with enclosed kernel values.

In feature space :math:`\|\hat w_j\|^2 = \|\hat w_{j-1}\|^2 + 2 a_j m_j + a_j^2 (k(x, x) + c^2)`; the remaining argument
is that of the linear perceptron (theory: ``novikoff``). Integer kernel values are added without error.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.balls import is_whole
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma
from surefit.checks.judge import AtMost, Proof, refused, shared
from surefit.checks.kernels.values import enclosed_diagonal, kernel_of, training_values
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.margins import bracket
from surefit.checks.perceptrons.replays import bounded, fact
from surefit.checks.perceptrons.risk import ITERATE, order_of, progressive, risk_bound, sentence, up_to_one
from surefit.checks.perceptrons.runs import Run, all_runs, codes_of, row_numbers, run_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.kernels.base import Kernel

WHOLE = 2.0**51  # smaller integers are added without error
CELLS = 2**20  # kernel values in memory at a time
DELTA = 0.05  # failure probability of the risk bound


class Replayed(NamedTuple):
    """Results of repeating the logged updates in feature space."""

    rows: np.ndarray
    steps: np.ndarray
    margins: Enclosed  # before each update
    square: Enclosed  # squared norm at the end
    support: np.ndarray
    dual: np.ndarray  # one entry per support row
    offset: float
    exact: bool


def assumptions(stated: Claim) -> tuple[str, ...]:
    """Return the assumption that the kernel is positive semidefinite, if that is not known."""
    return ("positive_semidefinite_kernel",) if stated.numbers.get("assumed_kernel") else ()


@fact("perceptron.kernel_replay", side="upper",
      says="{updates} updates were made, none at a margin of more than {value:.3g} above the threshold; they are the dual "
      "coefficients.")  # fmt: skip
def replay(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Repeat the logged updates in feature space; the dual coefficients and the intercept must be their sums."""
    run = run_of(certificate, stated, data)
    found, model = _replayed(run), certificate.model
    claimed, support = np.zeros(len(run.t)), row_numbers(model["support_"], len(run.t))
    claimed[support] = model["dual_coef_"][run.p]
    claimed[found.support] -= found.dual
    if np.any(claimed) or np.any(np.diff(support) <= 0):
        return refused("the dual coefficients are not the sums of the logged updates")
    if model["intercept_"][run.p] != found.offset:
        return refused("the intercept is not the sum of the logged updates")
    cut = np.where(run.t[found.rows] > 0, run.rule.threshold_plus, run.rule.threshold_minus)
    excess = float(np.max(found.margins.mid + found.margins.rad - cut, initial=0.0))
    own, level = {**run.own, "updates": len(found.rows)}, "exact" if found.exact else "enclosed"
    spread = float(np.max(found.margins.rad, initial=0.0))
    return Proof(excess, level, f"{len(found.rows)} updates replayed.", own, spread=spread)


@bracket("perceptron.kernel_margin", kind="optimality", theory="novikoff", assumptions=assumptions,
         says="In feature space the largest margin of any direction lies between {value:.6g} and {up:.6g}.")  # fmt: skip
def margin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the largest margin in feature space from both sides."""
    run = run_of(certificate, stated, data)
    low, up = _lowest(run), _highest(_replayed(run))
    note = f"{low.value:.6g} <= margin <= {up.value:.6g}."
    return Proof(low.value, "enclosed", note, {**_numbers(run), "up": AtMost(*up)}, spread=low.spread)


@fact("perceptron.kernel_novikoff", assumptions=assumptions,
      says="{value:.0f} updates were made; a feature-space radius of {radius:.6g} and margin {gamma_low:.6g} allow "
      "{allowed:.6g}.")  # fmt: skip
def novikoff(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Compare the number of updates with the bound of the theorem."""
    run = run_of(certificate, stated, data)
    diagonal = enclosed_diagonal(*_kernel(certificate, data))
    square = (float(np.max(diagonal.mid + diagonal.rad)) + run.beta) * (1 + 4 * UNIT)
    steps = (run.rule.step_minus, run.rule.step_plus)
    most = geometry.most_updates(steps, run.rule.threshold, square, _lowest(run), (0.0, 0.0))
    known = float(np.max(diagonal.rad)) / square + 8 * UNIT  # relative rounding of the radius
    most = Bound(most.value, most.spread + 4 * known * most.value)
    return bounded(len(_replayed(run).rows), most, _lowest(run), square, _numbers(run), data)


@risk_bound("perceptron.kernel_risk", about=ITERATE, says=partial(sentence, ITERATE))
def kernel_risk(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count the rows that may have been misclassified in the first pass, given the previous updates."""
    if certificate.problem["looks_ahead"]:
        return refused("the first pass depended on later rows, so it gives no risk bound")
    order = order_of(stated, data.X.shape[0])
    passes = [_first_pass(run, order) for run in all_runs(certificate, data)]
    mistaken, nearly = (np.any([one[k] for one in passes], axis=0) for k in (0, 1))
    more = {"kernel_fixed": True} if certificate.problem["given_kernel"] else {}
    codes = codes_of(certificate, data)
    largest = int(np.bincount(codes).max())
    proof, other = (
        progressive(int(rows.sum()), DELTA, len(codes), largest, more) for rows in (mistaken, mistaken | nearly)
    )
    errors = AtMost(proof.numbers["errors"], (other.numbers["errors"] - proof.numbers["errors"]) / 2)
    spread = proof.spread + (other.value - proof.value) / 2
    return up_to_one(proof._replace(numbers={**proof.numbers, "errors": errors}, spread=spread))


def _first_pass(run: Run, order: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows may have been misclassified, and which others another evaluation may count."""
    t, beta, n, logged = run.t, run.beta, len(order), _rows(run)
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    first = int(np.asarray(run.witness("perceptron.kernel_replay")["after_pass"]).ravel()[0])
    logged = logged[: max(0, min(first, len(logged)))]
    if len(logged) == 0 or np.any(np.diff(place[logged]) <= 0):  # the first row has score zero, which is a mistake
        raise ValueError("the log does not begin with the mistakes of the first pass")
    mistaken, nearly = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    mistaken[logged] = True
    for here in _pieces(n, len(logged)):
        seen = np.where(place[logged][None, :] < place[here][:, None], run.steps[logged], 0.0)
        K = _values(run, here, logged)
        margins = t[here] * ((K.mid + beta) * seen).sum(axis=1)
        size = ((np.abs(K.mid) + K.rad + beta) * np.abs(seen)).sum(axis=1)
        exact = not np.any(K.rad) and is_whole(K.mid, run.steps[logged], np.array([beta])) and np.all(size < WHOLE)
        rad = 0.0 if exact else (K.rad * np.abs(seen)).sum(axis=1) + 2 * gamma(len(logged) + 4) * size
        mistaken[here] |= margins - rad <= 0
        nearly[here] |= margins - 4 * rad <= 0
    return mistaken, nearly


def _pieces(n: int, width: int) -> list[np.ndarray]:
    return np.array_split(np.arange(n), max(1, n * width // CELLS))


def _numbers(run: Run) -> dict[str, Any]:
    known = kernel_of(run.certificate).positive_semidefinite is True
    return run.own if known else {**run.own, "assumed_kernel": True}


def _rows(run: Run) -> np.ndarray:
    return row_numbers(run.witness("perceptron.kernel_replay")["rows"], run.data.X.shape[0])


@shared
def _kernel(certificate: Certificate, data: Data) -> tuple[Kernel, Any]:
    """Return the kernel and the rows in the form that it reads."""
    kernel = kernel_of(certificate)
    return kernel, kernel.read(data.X.astype(np.float64, copy=False))


def _values(run: Run, a: np.ndarray, b: np.ndarray) -> Enclosed:
    return training_values(*_kernel(run.certificate, run.data), a, b)


def _replayed(run: Run) -> Replayed:
    """Return the results of repeating the logged updates, cached for further claims."""
    key = ("kernel perceptron", run.p)
    if key not in run.data.memo:
        run.data.memo[key] = _replay(run)
    return run.data.memo[key]


def _replay(run: Run) -> Replayed:
    t, rows, beta = run.t, _rows(run), run.beta
    steps = np.abs(run.steps[rows])
    support, place = np.unique(rows, return_inverse=True)
    G = _values(run, support, support) if len(rows) else Enclosed(np.zeros((0, 0)), np.zeros((0, 0)))
    exact = not np.any(G.rad) and is_whole(G.mid, steps, np.array([beta]))
    exact = exact and float(np.sum(steps)) ** 2 * float(np.max(np.abs(G.mid), initial=0.0) + beta) < WHOLE
    scores, errors = np.zeros(len(support)), np.zeros(len(support))
    mid, rad, b = np.zeros(len(rows)), np.zeros(len(rows)), 0.0
    for j, p in enumerate(place):
        sign = t[rows[j]]
        mid[j] = sign * (scores[p] + b)
        rad[j] = errors[p] + 4 * UNIT * (abs(scores[p]) + (j + 1) * abs(b))
        scores += steps[j] * sign * G.mid[p]
        errors += steps[j] * G.rad[p] + 3 * UNIT * np.abs(scores)
        b += steps[j] * sign * beta
    rad = np.zeros(len(rows)) if exact else rad * (1 + gamma(len(rows) + 8))
    dual = np.bincount(place, steps * t[rows], minlength=len(support))
    growth = steps * (2 * mid + steps * (np.diagonal(G.mid)[place] + beta))
    wiggle = math.fsum(2 * steps * rad + steps**2 * np.diagonal(G.rad)[place]) * (1 + gamma(8))
    rounding = 0.0 if exact else gamma(len(rows) + 8) * math.fsum(np.abs(growth))
    square = Enclosed(np.array(math.fsum(growth)), np.array(wiggle + rounding))
    return Replayed(rows, steps, Enclosed(mid, rad), square, support, dual, b, exact)


def _lowest(run: Run) -> Bound:
    """Bound the margin of the final function from below, cached for further claims."""
    key = ("kernel margin", run.p)
    if key not in run.data.memo:
        found = _replayed(run)
        low, rounding, size = math.inf, 0.0, np.abs(found.dual)
        for rows in _pieces(len(run.t), len(found.support)):
            K = _values(run, rows, found.support)
            mid = run.t[rows] * (K.mid @ found.dual + found.offset)
            rad = K.rad @ size + gamma(len(found.dual) + 4) * (np.abs(K.mid) @ size + abs(found.offset))
            rad = rad * (not (found.exact and not np.any(K.rad)))
            low, rounding = min(low, float(np.min(mid - rad))), max(rounding, float(np.max(rad)))
        square, error = float(found.square.mid), float(found.square.rad)
        if not square > error:
            raise ValueError("the norm of the function is not provably positive")
        largest, smallest = math.sqrt(square + error), math.sqrt(square - error)
        value = low / (largest if low > 0 else smallest)
        relative = error / (square - error) + 16 * UNIT
        run.data.memo[key] = Bound(value - 8 * UNIT * abs(value), rounding / smallest + relative * abs(value))
    return run.data.memo[key]


def _highest(found: Replayed) -> Bound:
    total, square, error = math.fsum(found.steps), float(found.square.mid), float(found.square.rad)
    if not total > 0:
        raise ValueError("no update was made")
    most, least = math.sqrt(square + error), math.sqrt(max(square - error, 0.0))
    value = most / total * (1 + 8 * UNIT)
    return Bound(value, (most - least) / total + 16 * UNIT * value)
