r"""Checks kernel machines of LIBSVM: their gap, and which labels or predictions the exact optimum would change.

The problem of :math:`\nu` is that of the price :math:`C = \sum_i |\beta_i| / (\nu n)`, in regression that of the best tube. With a
reference function of gap g, the optimal one differs from it by at most :math:`\rho_i = \sqrt{2 g\,k(x_i, x_i)}` at a row; the optimal
offsets follow, because the slope of the loss in the offset grows with all scores (theory: ``audit``).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from surefit.checks.audited_models import derived, inner
from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import UNIT, Enclosed
from surefit.checks.kernel_values import enclosed_diagonal, kernel_of
from surefit.checks.linear_scores import class_codes, rounding
from surefit.checks.svm import Machine, Proof, machines_of, prove_machine, scores_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-12
MARGIN = 1 + 1e-9
INWARDS = 1 - 8 * UNIT  # a library's own product of price and weights may be a unit in the last place larger than ours


class Solved(NamedTuple):
    """Problems, proofs and scores (without offsets) of one solution."""

    machines: list[Machine]
    proofs: list[Proof]
    scores: np.ndarray

    @property
    def gap(self) -> float:
        """Sum of the gaps."""
        return math.fsum(p.gap for p in self.proofs) if all(math.isfinite(p.gap) for p in self.proofs) else math.inf

    @property
    def objective(self) -> float:
        """Sum of the objectives."""
        return float(sum(p.objective for p in self.proofs))


@derived("svm")
def read_machine(model) -> dict[str, np.ndarray]:
    """Support, coefficients and offsets of scikit-learn's kernel machines; sparse rows have sparse coefficients."""
    dual = model.dual_coef_
    dual = dual.toarray() if hasattr(dual, "toarray") else np.asarray(dual)
    return {
        "support_": np.asarray(model.support_).astype(np.int64),
        "dual_coef_": dual.astype(np.float64),
        "intercept_": np.asarray(model.intercept_).astype(np.float64),
    }


@checker("audit.svm_gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """P - min P, summed over the problems, is at most value."""
    least, most, objective = excess_of(certificate, data)
    ok = bool(most - claim.value <= rounding(claim.value, objective))
    return Finding(claim.name, claim.value, most, ok, "recomputed", f"{least:.3g} <= P - min P <= {most:.3g}.")


@checker("audit.svm_labels")
def check_labels(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """At most value training labels could differ from those of the exact optimum."""
    count = float(np.sum(labels_in_doubt(certificate, data)))
    return Finding(
        claim.name, claim.value, count, count <= claim.value, "recomputed", "from the gap and strong convexity."
    )


@checker("audit.svm_predictions")
def check_predictions(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No training prediction is farther than value from that of an exact optimum."""
    reach = float(np.max(prediction_reach(certificate, data), initial=0.0))
    ok = bool(reach <= claim.value * (1 + 1e-6) + ROUNDING * float(np.max(np.abs(data.target), initial=0.0)))
    return Finding(claim.name, claim.value, reach, ok, "recomputed", "from the gap and strong convexity.")


def solved(certificate: Certificate, data: Data, reference: bool) -> Solved:
    """Prove the problems at the model, or at the reference solution that the certificate carries."""
    key = f"audit.svm {reference}"
    if key not in data.memo:
        read_as, rows = inner(certificate, data)
        witness = certificate.claims[0].witness if certificate.claims else {}
        if reference and "dual_coef" in witness:
            names = ("support", "dual_coef", "intercept")
            own = (
                {"epsilon": float(witness["epsilon"])} if "epsilon" in witness else {}
            )  # its best tube, where that is free
            model = {f"{name}_": witness[name] for name in names}
            read_as = replace(read_as, model=model, problem={**read_as.problem, **own}, seal="")
        else:
            model = {**read_as.model, "dual_coef_": read_as.model["dual_coef_"] * INWARDS}
            if (
                read_as.problem.get("drops_rows") and rows.weights is not None
            ):  # its numbers of rows count those with a weight
                model["support_"] = np.flatnonzero(rows.weights > 0)[model["support_"]]
            read_as = replace(read_as, model=model, seal="")
        fresh = Data(rows.X, rows.y, rows.weights, {}, None)
        machines, scores = machines_of(read_as, fresh), scores_of(read_as, fresh)
        nu, tube = read_as.problem.get("nu"), read_as.problem["classes"] is None
        if nu is not None and not tube:
            machines = [_priced(m, nu) for m in machines]
        diagonal = _diagonal(read_as, rows)
        proofs = [
            prove_machine(m, Enclosed(scores.mid[m.rows, p], scores.rad[m.rows, p]), float(diagonal.max(initial=0.0)))
            for p, m in enumerate(machines)
        ]
        if nu is not None and tube:
            proofs = [_with_tube(m, proof, nu) for m, proof in zip(machines, proofs, strict=True)]
        data.memo[key] = Solved(machines, proofs, scores.mid)
    return data.memo[key]


def _priced(m: Machine, nu: float) -> Machine:
    """Return the machine with the price that nu amounts to."""
    price = math.fsum(np.abs(m.beta)) / (nu * math.fsum(m.high - m.low)) * (1 + 1e-9)
    return m._replace(low=m.low * price, high=m.high * price)


def _with_tube(m: Machine, proof: Proof, nu: float) -> Proof:
    r"""Return the proof for a tube whose width is part of the problem, at the price :math:`C \nu n \varepsilon`.

    The dual then asks for :math:`\|\beta\|_1 \le C \nu n` and does not pay :math:`\varepsilon\|\beta\|_1`: the gap grows by
    :math:`\varepsilon (C \nu n - \|\beta\|_1)`.
    """
    budget, spent = nu * math.fsum(m.high), math.fsum(np.abs(m.beta))
    if spent > budget * (1 + 1e-9):
        return proof._replace(gap=math.inf)
    wasted = m.epsilon * max(budget - spent, 0.0) + ROUNDING * abs(m.epsilon * budget)
    return proof._replace(
        gap=proof.gap + wasted, gap_mid=proof.gap_mid + wasted, objective=proof.objective + m.epsilon * budget
    )


def _diagonal(read_as: Certificate, rows: Data) -> np.ndarray:
    kernel = kernel_of(read_as)
    return enclosed_diagonal(kernel, kernel.read(rows.X)).magnitude


def excess_of(certificate: Certificate, data: Data) -> tuple[float, float, float]:
    """Bracket P - min P at the model, and give P."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    size = ROUNDING * abs(own.objective)
    above = own.objective - best.objective
    if not math.isfinite(above):
        return 0.0, own.gap, own.objective
    return max(above - size, 0.0), max(min(own.gap, above + size + best.gap), 0.0), own.objective


def reach_of(certificate: Certificate, data: Data) -> list[np.ndarray]:
    """Bound what the functions of the reference can be off by, at all rows, one array a problem."""
    read_as, rows = inner(certificate, data)
    root = np.sqrt(_diagonal(read_as, rows))
    return [root * math.sqrt(2 * max(p.gap, 0.0)) * MARGIN for p in solved(certificate, data, True).proofs]


def prediction_reach(certificate: Certificate, data: Data) -> np.ndarray:
    """Bound the distance of each training prediction of a regression from that of any exact optimum."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    m, reach = best.machines[0], reach_of(certificate, data)[0]
    f = best.scores[:, 0]
    low, high = offsets(m, f[m.rows], reach[m.rows]) if m.b_free else (0.0, 0.0)
    model = own.scores[:, 0] + own.machines[0].b
    return np.maximum(np.abs(f - reach + low - model), np.abs(f + reach + high - model))[m.rows]


def labels_in_doubt(certificate: Certificate, data: Data) -> np.ndarray:
    """Rows of positive weight whose label is not proved to be that of the exact optimum."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    read_as, rows = inner(certificate, data)
    K = len(read_as.problem["classes"])
    pairs = [(1, 0)] if K == 2 else [(i, j) for i in range(K) for j in range(i + 1, K)]
    n = rows.X.shape[0]
    safe, wins, unproved = np.zeros((n, K)), np.zeros((n, K)), np.zeros(n, dtype=bool)
    for p, ((i, j), m, reach) in enumerate(zip(pairs, best.machines, reach_of(certificate, data), strict=True)):
        low, high = offsets(m, best.scores[m.rows, p], reach[m.rows]) if m.b_free else (0.0, 0.0)
        f, model = best.scores[:, p], own.scores[:, p] + own.machines[p].b
        first, second = f - reach + low > 0, f + reach + high < 0
        safe[:, i] += first
        safe[:, j] += second
        wins[:, i] += model > 0
        wins[:, j] += model <= 0
        unproved |= ~np.where(model > 0, first, second)
    label = wins.argmax(axis=1)
    certain = (safe[np.arange(n), label] == K - 1) | ~unproved  # all its duels are won, or all votes are as counted
    used = class_codes(read_as, rows) >= 0 if rows.weights is None else rows.weights > 0
    return ~certain & used


def offsets(m: Machine, f: np.ndarray, reach: np.ndarray) -> tuple[float, float]:
    """Return an interval that holds every optimal offset, if each score is within its reach of ``f``."""
    ends = []
    for sign in (-1.0, 1.0):  # the smallest offset belongs to the largest scores
        z = m.y - (f - sign * reach)
        # where the slope in b changes, and by how much: from -high below the tube over 0 to -low above it
        places = np.concatenate([z - m.epsilon, z + m.epsilon])
        order = np.argsort(places, kind="stable")
        places, jumps = places[order], np.concatenate([m.high, -m.low])[order]
        slopes = -math.fsum(m.high) + np.concatenate([[0.0], np.cumsum(jumps)])
        slack = 1e-9 * math.fsum(m.high - m.low)
        if sign < 0:
            k = int(np.argmax(slopes >= -slack)) if np.any(slopes >= -slack) else len(places)
            ends.append(-math.inf if k == 0 else float(places[k - 1]))
        else:
            k = int(np.flatnonzero(slopes <= slack)[-1]) if np.any(slopes <= slack) else 0
            ends.append(math.inf if k == len(places) else float(places[k]))
    return ends[0], ends[1]
