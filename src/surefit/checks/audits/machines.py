r"""Checks of LIBSVM's support vector machines: the gap, and labels or predictions that could differ at the optimum.

A classifier with :math:`\nu` solves the problem with :math:`C = \sum_i |\beta_i| / (\nu n)`; a regressor with
:math:`\nu` also optimizes the tube width. At row i, the optimal function differs from a reference function of gap g by
at most :math:`\rho_i = \sqrt{2 g\,k(x_i, x_i)}`. This bounds the optimal intercepts, because the derivative of the loss
in the intercept increases with all scores (theory: ``audit``).
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from surefit.checks.audits.bracket import ELSEWHERE, Excess, Sums, excess, kept, within
from surefit.checks.audits.reading import inner
from surefit.checks.enclosure import UNIT, Enclosed, upper_sum
from surefit.checks.gap import Dual, Gap, Point, prove_kernel
from surefit.checks.intercepts import offset_interval
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.machines import Machine, Scored, machines_of, scores_of
from surefit.checks.kernels.model import class_codes
from surefit.checks.kernels.values import assumptions_of, enclosed_diagonal, kernel_facts, kernel_of, level_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

INWARDS = 1 - 8 * UNIT  # LIBSVM's product of C and a weight may exceed ours by one unit in the last place
OWN = 10  # multiple of the radii of the scores that also covers moving coefficients into their box
UPWARDS = 1 + 1e-9  # rounding factor for the C that corresponds to nu, so that it is not below the largest coefficient


class Solved(Sums):
    """Problems, proofs and scores (without intercepts) of one solution."""

    def __init__(self, machines: list[Machine], parts: list[Gap], scores: Enclosed, feasible: bool) -> None:
        self.machines, self.parts, self.scores = machines, parts, scores
        self.feasible = feasible  # whether the coefficients lie in their box


UPPER: dict[str, Any] = {"side": "upper", "theory": "audit"}


@claim("audit.svm_gap", kind="optimality", infinite=True, assumptions=assumptions_of, says=within, **UPPER)
def gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that P - min P, summed over the problems, is at most ``value``."""
    found = excess_of(certificate, data)
    numbers = {**found.numbers, **kernel_facts(inner(certificate, data)[0])}
    return _proof(certificate, data, found.most, found.spread, numbers)


@claim(
    "audit.svm_stationarity",
    kind="stationarity",
    infinite=True,
    says="The optimality conditions are violated by {value:.3g} in total; the kernel is indefinite, so no optimum is claimed.",
    **UPPER,
)
def stationarity(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the violations of the optimality conditions sum to at most ``value``, for an indefinite kernel."""
    own = solved(certificate, data, False)
    return _proof(certificate, data, own.gap, own.spread, {})


def _proof(certificate: Certificate, data: Data, value: float, spread: float, numbers: dict[str, Any]) -> Proof:
    limit = float(certificate.problem["tol"]) * null_objective(certificate, data)
    level = level_of(kernel_of(inner(certificate, data)[0]))
    note = f"P - min P <= {value:.3g} by a dual point."
    return Proof(value, level, note, numbers, limit, spread, limit_spread=(data.X.shape[0] + 64) * UNIT * limit)


def null_objective(certificate: Certificate, data: Data) -> float:
    """Return the objective of the zero function with zero (regression: median) intercept, summed over the problems."""
    own, problem = solved(certificate, data, False), certificate.problem
    if problem["classes"] is not None:
        return sum(upper_sum(m.c) for m in own.machines)
    (m,) = own.machines
    away = np.abs(m.y - float(np.median(m.y)))
    width = float(np.quantile(away, 1.0 - problem["nu"])) if "nu" in problem else m.epsilon
    free = problem["nu"] * upper_sum(m.c) * width if "nu" in problem else 0.0
    return upper_sum(m.c * np.maximum(away - width, 0.0)) + free


@claim("audit.svm_labels", kind="uncertainty", assumptions=assumptions_of, says=kept, **UPPER)
def labels(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that at most ``value`` training labels could differ from those of the exact optimum."""
    counts = [int(np.sum(uncertified_labels(certificate, data, times))) for times in (0, ELSEWHERE)]
    n = data.X.shape[0] if data.weights is None else int(np.sum(data.weights > 0))
    read_as = inner(certificate, data)[0]
    return Proof(
        float(counts[0]),
        level_of(kernel_of(read_as)),
        "from the gap and strong convexity.",
        {"rows": n, **kernel_facts(read_as)},
        spread=(counts[1] - counts[0]) / 2.5,
    )


@claim(
    "audit.svm_predictions",
    kind="uncertainty",
    infinite=True,
    assumptions=assumptions_of,
    says="No training prediction is farther than {value:.3g} from that of an exact optimum.",
    **UPPER,
)
def predictions(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that no training prediction is farther than ``value`` from that of an exact optimum."""
    near, far = (float(np.max(prediction_radii(certificate, data, t), initial=0.0)) for t in (0, ELSEWHERE))
    read_as, finite = inner(certificate, data)[0], math.isfinite(far)
    return Proof(
        near if finite else math.inf,
        level_of(kernel_of(read_as)),
        "from the gap and strong convexity.",
        kernel_facts(read_as),
        spread=(far - near) / 2.5 if finite else 0.0,
    )


@shared
def solved(certificate: Certificate, data: Data, reference: bool) -> Solved:
    """Prove the problems at the model, or at the reference solution stored in the certificate."""
    read_as, rows = inner(certificate, data)
    witness = certificate.claims[0].witness if certificate.claims else {}
    if reference and "dual_coef" not in witness:
        return solved(certificate, data, False)
    return _solved(_at_witness(read_as, witness) if reference else _inwards(read_as, rows), rows)


def _at_witness(read_as: Certificate, witness: dict[str, Any]) -> Certificate:
    own = {"epsilon": float(witness["epsilon"])} if "epsilon" in witness else {}  # optimal tube of the reference
    model = {f"{name}_": witness[name] for name in ("support", "dual_coef", "intercept")}
    return replace(read_as, model=model, problem={**read_as.problem, **own}, seal="")


def _inwards(read_as: Certificate, rows: Data) -> Certificate:
    model = {**read_as.model, "dual_coef_": read_as.model["dual_coef_"] * INWARDS}
    if read_as.problem.get("drops_rows") and rows.weights is not None:  # nu counts rows of positive weight
        model["support_"] = np.flatnonzero(rows.weights > 0)[model["support_"]]
    return replace(read_as, model=model, seal="")


def _solved(read_as: Certificate, rows: Data) -> Solved:
    fresh = Data(rows.X, rows.y, rows.weights, {}, None)
    machines, scores = machines_of(read_as, fresh), scores_of(read_as, fresh)
    nu, tube = read_as.problem.get("nu"), read_as.problem["classes"] is None
    if nu is not None and not tube:
        machines = [_with_own_C(m, nu) for m in machines]
    largest = float(np.max(_diagonal(read_as, rows), initial=0.0))
    proofs = []
    for p, m in enumerate(machines):
        own = Enclosed(scores.mid[m.rows, p], scores.rad[m.rows, p])
        proofs.append(_prove(m, own, largest, None if nu is None or not tube else nu * upper_sum(m.high)))
    feasible = not any(np.any(m.beta < m.low) or np.any(m.beta > m.high) for m in machines)
    return Solved(machines, proofs, scores, feasible)


def _prove(m: Machine, scores: Enclosed, largest: float, budget: float | None) -> Gap:
    r"""Bound P - min P of one problem; with a ``budget``, the tube width is free and costs :math:`C \nu n \varepsilon`.

    The dual then requires :math:`\|\beta\|_1 \le C \nu n` and has no term :math:`\varepsilon\|\beta\|_1`: the gap grows by
    :math:`\varepsilon (C \nu n - \|\beta\|_1)`.
    """
    point = Point(m.y, m.c, m.beta, m.b, m.b_free)
    operator, spent = Scored(m.beta, scores, largest), upper_sum(np.abs(m.beta))
    if budget is None:
        return prove_kernel(operator, m.loss, 1.0, point)
    shrink = min(1.0, budget / spent) * (1 - 16 * UNIT) if spent > 0 else 1.0
    witness = np.divide(-shrink * m.beta, m.c, out=np.zeros(len(m.c)), where=m.c > 0)
    found = prove_kernel(operator, m.loss, 1.0, point, Dual(witness))
    free, rounding = m.epsilon * budget, 64 * UNIT * m.epsilon * budget
    unused = m.epsilon * max(budget - shrink * spent, 0.0) + rounding
    return found._replace(
        value=(found.value + unused) * (1 + 4 * UNIT),
        spread=found.spread + 2 * rounding,
        objective=(found.objective + free) * (1 + 4 * UNIT),
        objective_spread=found.objective_spread + rounding,
    )


def _with_own_C(m: Machine, nu: float) -> Machine:
    """Return the machine with the C that corresponds to nu."""
    C = upper_sum(np.abs(m.beta)) / (nu * upper_sum(m.high - m.low)) * UPWARDS
    return m._replace(low=m.low * C, high=m.high * C)


def _diagonal(read_as: Certificate, rows: Data) -> np.ndarray:
    kernel = kernel_of(read_as)
    return enclosed_diagonal(kernel, kernel.read(rows.X)).magnitude


def excess_of(certificate: Certificate, data: Data) -> Excess:
    """Bound P - min P at the model from both sides."""
    return excess(solved(certificate, data, False), solved(certificate, data, True))


def radii_of(certificate: Certificate, data: Data, times: int = 0) -> list[np.ndarray]:
    """Bound the distance of the reference functions from the optimal ones; ``times`` rounding errors are added."""
    read_as, rows = inner(certificate, data)
    root, best = np.sqrt(_diagonal(read_as, rows)) * (1 + 4 * UNIT), solved(certificate, data, True)
    gaps = [max(p.value + times * p.spread, 0.0) for p in best.parts]
    rad = (1 + times) * best.scores.rad
    return [root * math.sqrt(2 * gap) * (1 + 8 * UNIT) + rad[:, p] for p, gap in enumerate(gaps)]


def intercepts_of(m: Machine, f: np.ndarray, radius: np.ndarray) -> tuple[float, float]:
    """Return an interval that contains every optimal intercept, if each score is within its radius of ``f``."""
    return offset_interval(m.loss, m.y, m.c, f, radius) if m.b_free else (0.0, 0.0)


def prediction_radii(certificate: Certificate, data: Data, times: int = 0) -> np.ndarray:
    """Bound the distance of each training prediction of a regression from that of any exact optimum."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    m, radius, f = best.machines[0], radii_of(certificate, data, times)[0], best.scores.mid[:, 0]
    low, high = intercepts_of(m, f[m.rows], radius[m.rows])
    model = own.scores.mid[:, 0] + own.machines[0].b
    off = OWN * (1 + times) * own.scores.rad[:, 0] + 8 * UNIT * (np.abs(model) + abs(own.machines[0].b))
    away = np.maximum(np.abs(f - radius + low - model), np.abs(f + radius + high - model))
    return ((away + off) * (1 + 8 * UNIT))[m.rows]


def uncertified_labels(certificate: Certificate, data: Data, times: int = 0) -> np.ndarray:
    """Return which rows of positive weight have a label that is not proved to be that of the exact optimum."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    read_as, rows = inner(certificate, data)
    K, n = len(read_as.problem["classes"]), rows.X.shape[0]
    pairs = [(1, 0)] if K == 2 else [(i, j) for i in range(K) for j in range(i + 1, K)]
    safe, wins, unproved = np.zeros((n, K)), np.zeros((n, K)), np.zeros(n, dtype=bool)
    unsure = np.zeros(n, dtype=bool)  # a pairwise decision of the model is within rounding
    for p, ((i, j), m, radius) in enumerate(zip(pairs, best.machines, radii_of(certificate, data, times), strict=True)):
        f, b = best.scores.mid[:, p], own.machines[p].b
        low, high = intercepts_of(m, f[m.rows], radius[m.rows])
        model, slip = own.scores.mid[:, p] + b, 8 * UNIT * (np.abs(f) + radius)
        first, second = f - radius + low > slip, f + radius + high < -slip
        unsure |= np.abs(model) <= OWN * (1 + times) * own.scores.rad[:, p] + 8 * UNIT * (np.abs(model) + abs(b))
        safe[:, i] += first
        safe[:, j] += second
        wins[:, i] += model > 0
        wins[:, j] += model <= 0
        unproved |= ~np.where(model > 0, first, second)
    label = wins.argmax(axis=1)
    certain = (safe[np.arange(n), label] == K - 1) | ~unproved  # it wins all its pairs, or all decisions are proved
    used = class_codes(read_as, rows) >= 0 if rows.weights is None else rows.weights > 0
    return ~(certain & ~unsure) & used
