r"""Checks of the distance of another library's linear model from the optimum of the problem that the library states.

By strong convexity (of the penalty, the loss or the dual), the scores of the exact optimum are within a known distance
of those of a reference solution, which are compared with the model's scores (theory: ``audit``).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.audits.bracket import ELSEWHERE, Excess, Sums, excess, kept, over, within
from surefit.checks.audits.reading import at_reference, inner
from surefit.checks.enclosure import UNIT, Enclosed
from surefit.checks.gap import Logistic, coefficient_distance, score_distance, scores_at
from surefit.checks.gap.losses import smoothness
from surefit.checks.intercepts import offset_interval
from surefit.checks.judge import AtLeast, Proof, claim, shared
from surefit.checks.linear.columns import Columns, columns_of, gaps, null_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


class Solved(Sums):
    """Proved results for one point, the model or the reference solution, over all problems."""

    def __init__(self, parts: list[Any], columns: Columns | None) -> None:
        self.parts = parts  # one Gap per problem, or one Softmax for all
        self.columns = columns  # None for a softmax

    @property
    def scores(self) -> Enclosed:
        """Scores of the rows, one column per coefficient vector."""
        if self.columns is None:
            return self.parts[0].z
        return Enclosed(*(np.column_stack([getattr(part.z, name) for part in self.parts]) for name in ("mid", "rad")))


@claim("audit.gap", kind="optimality", side="upper", infinite=True, theory="audit", says=within)
def gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound P - min P; the limit is ``tol`` times the objective of the best constants."""
    found = excess_of(certificate, data)
    null, off, floor = null_of(*inner(certificate, data))
    tol = float(certificate.problem["tol"])
    limit = tol * null + floor
    return Proof(
        found.most,
        note=f"{found.least:.3g} <= P - min P <= {found.most:.3g}.",
        numbers={**found.numbers, "box": AtLeast(found.box)},
        limit=limit,
        spread=found.spread,
        limit_spread=min(tol * off + 64 * UNIT * limit, limit / 5),
    )


@claim("audit.labels", kind="uncertainty", side="upper", theory="audit", says=kept)
def labels(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Count the training labels that are not proved to be those of the exact optimum."""
    counts = [int(np.sum(uncertified_labels(certificate, data, times))) for times in (0, ELSEWHERE)]
    n = data.X.shape[0] if data.weights is None else int(np.sum(data.weights > 0))
    note = "compared with a solution whose labels are proved."
    penalty = certificate.problem["penalty"]
    # Without a penalty, separable classes have no optimum; the dual point still proves the labels of the limit.
    numbers = {"rows": n, "unpenalized": not (penalty["l1"] or penalty["l2"])}
    return Proof(float(counts[0]), note=note, numbers=numbers, spread=(counts[1] - counts[0]) / 2.5)


@claim(
    "audit.predictions",
    kind="uncertainty",
    side="upper",
    infinite=True,
    theory="audit",
    says=lambda c: (
        "How far training predictions are from those of the exact optimum is not known."
        if math.isinf(c.value)
        else f"No training prediction is farther than {c.value:.3g} from that of the exact optimum{over(c)}."
    ),
)
def predictions(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the distance of the training predictions from those of the exact optimum."""
    near, far = (prediction_distance(certificate, data, times) for times in (0, ELSEWHERE))
    spread = (far - near) / 2.5 if math.isfinite(far) else 0.0
    box = {"box": AtLeast(solved(certificate, data, True).box)}
    return Proof(
        near if math.isfinite(far) else math.inf, note="from the gap and strong convexity.", numbers=box, spread=spread
    )


def solved(certificate: Certificate, data: Data, reference: bool) -> Solved:
    """Prove the gaps of the problems at the model, or at the reference solution stored in the certificate."""
    read_as, rows = at_reference(certificate, data) if reference else inner(certificate, data)
    return _solved(read_as, rows)


@shared
def _solved(read_as: Certificate, rows: Data) -> Solved:
    if read_as.problem["loss"] == "softmax":
        return Solved(gaps(read_as, rows), None)
    columns, parts = columns_of(read_as, rows), []
    for part, point in zip(gaps(read_as, rows), columns.points, strict=True):  # proofs by one pass keep no scores
        parts.append(part if len(part.z.mid) else part._replace(z=scores_at(columns.operator, point)))
    return Solved(parts, columns)


def excess_of(certificate: Certificate, data: Data) -> Excess:
    """Bound P - min P at the model from both sides."""
    return excess(solved(certificate, data, False), solved(certificate, data, True))


def score_radii(best: Solved, times: int) -> np.ndarray:
    """Bound the distance of the optimal scores from those of ``best``; infinite if no bound is known.

    The gaps are enlarged by ``times`` their rounding errors, so that another evaluation confirms them.
    """
    columns = best.columns
    assert columns is not None
    radii = []
    for part, point, penalty in zip(best.parts, columns.points, columns.penalties, strict=True):
        found = (part.value + times * part.spread) * (1 + 2 * UNIT)
        rounding = (1 + times) * part.z.rad
        by_loss = score_distance(found, columns.loss, point.c)
        away = coefficient_distance(found, penalty)
        by_penalty = np.full(len(point.y), math.inf)
        if math.isfinite(away):
            by_penalty = columns.operator.row_norms() * away * (1 + 4 * UNIT)
            if point.intercept:
                f = part.z.mid - point.b
                own = by_penalty + rounding + 4 * UNIT * (np.abs(part.z.mid) + abs(point.b))
                low, high = offset_interval(columns.loss, point.y, point.c, f, own)
                by_penalty = by_penalty + max(point.b - low, high - point.b, 0.0) * (1 + 4 * UNIT)
        radii.append((np.minimum(by_loss, by_penalty) + rounding) * (1 + 4 * UNIT))
    return np.column_stack(radii)


def prediction_distance(certificate: Certificate, data: Data, times: int) -> float:
    """Bound the distance of the training predictions from those of the exact optimum, over rows of positive weight."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    assert own.columns is not None
    z, v = own.scores, best.scores
    apart = np.abs(z.mid - v.mid) * (1 + 2 * UNIT) + (1 + times) * z.rad
    counted = own.columns.points[0].c > 0
    return float(np.max((apart + score_radii(best, times))[counted], initial=0.0)) * (1 + 4 * UNIT)


def uncertified_labels(certificate: Certificate, data: Data, times: int = 0) -> np.ndarray:
    """Return which rows of positive weight have a label that is not proved to be that of the exact optimum."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    label, sure = _labels(own.scores, (1 + times) * own.scores.rad)
    certain = np.zeros(len(label), dtype=bool)
    if math.isfinite(best.box):
        pass  # the exact optimum may have larger coefficients, or may not exist
    elif best.columns is None:
        certain = _softmax_certain(best.parts[0], label, times)
    else:
        other, proved = _labels(best.scores, score_radii(best, times))
        certain = proved & (other == label)
        if len(best.parts) == 1:
            certain |= _by_slopes(best, label, times)
    doubt = ~(sure & certain)
    return doubt if data.weights is None else doubt & (data.weights > 0)


def _labels(z: Enclosed, radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the labels given by the scores, and whether they are the same for all scores within ``radii``."""
    if z.mid.shape[1] == 1:
        return (z.mid[:, 0] > 0).astype(int), np.abs(z.mid[:, 0]) > radii[:, 0]
    first, at = z.mid.argmax(axis=1), np.arange(len(z.mid))
    with np.errstate(invalid="ignore"):
        lead = (
            z.mid[at, first][:, None] * (1 - 4 * UNIT)
            - z.mid
            - radii[at, first][:, None]
            - radii
            - 4 * UNIT * np.abs(z.mid)
        )
    lead[at, first] = math.inf
    return first, np.nan_to_num(lead.min(axis=1), nan=-1.0) > 0


def _by_slopes(best: Solved, label: np.ndarray, times: int) -> np.ndarray:
    r"""Return which labels the dual variables prove: :math:`c_i (g_i - g_i^*)^2 \le 2L\epsilon`."""
    assert best.columns is not None
    (part,), (point,), loss = best.parts, best.columns.points, best.columns.loss
    steep = smoothness(loss)
    if not math.isfinite(steep) or not getattr(loss, "margin", isinstance(loss, Logistic)):
        return np.zeros(len(label), dtype=bool)
    at_zero = 0.5 if isinstance(loss, Logistic) else loss.h * loss.edge  # absolute derivative of the loss at score zero
    found = part.value + times * part.spread
    with np.errstate(divide="ignore", invalid="ignore"):
        radius = np.sqrt(2 * steep * found / point.c) * (1 + 8 * UNIT) + (1 + times) * (part.dual_rad + 4 * UNIT)
    lead = at_zero - np.abs(part.dual)  # positive if the label of the row is that of the score
    observed = (point.y > 0).astype(int)
    return (np.abs(lead) > radius) & (label == np.where(lead > 0, observed, 1 - observed))


def _softmax_certain(part: Any, label: np.ndarray, times: int) -> np.ndarray:
    """Return which labels the probabilities prove: negative entropy is 1-strongly convex in the 1-norm."""
    at, Q = np.arange(len(label)), part.dual
    others = Q.copy()
    others[at, label] = -math.inf
    lead = Q[at, label] - others.max(axis=1)
    found = part.value + times * part.spread
    with np.errstate(divide="ignore", invalid="ignore"):
        radius = np.sqrt(2 * found / part.c) * (1 + 8 * UNIT)
    return lead - 2 * (1 + times) * part.dual_rad.max(axis=1) - 8 * UNIT > radius
