r"""Checks of the VC bound of a linear classifier: training errors are recounted and the radius recomputed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.checks.enclosure import UNIT
from surefit.checks.gap.operators import operator_of, operator_on
from surefit.checks.judge import AtMost, Proof, claim, refused
from surefit.checks.risk.answers import row_losses
from surefit.checks.risk.words import assumptions_of, confidence_text, sentence
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.issuing.new_rows import half_space_dimension
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import Data, read_target
from surefit.core.threads import blocks
from surefit.problems.labels import class_codes, named_classes

ROWS = 1 << 16  # rows of a block, whose arrays are small
DELTA = 0.05  # failure probability if no parameter sets another


def _says(stated: Claim) -> str:
    z = stated.numbers
    empty = ", which is vacuous: surefit.Certified(model) gives a sharper bound" if stated.value >= 1 else ""
    return (
        f"probability of error of the model <= {stated.value:.4g} with confidence {confidence_text(z['delta'])}{empty}; by "
        f"{z['errors']:.0f} errors on {z['n']} training rows and the VC dimension {z['dimension']} of half-spaces, "
        f"{sentence(z['assumes'])}"
    )


@claim(
    "risk.vc", kind="risk_bound", side="upper", says=_says, about="the model", assumptions=assumptions_of, theory="vc-inequality",
    low=0.0, high=1.0, partitioned=True,
)  # fmt: skip
def vc(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound the risk by the training error and the VC dimension of half-spaces; undecided rows count as errors."""
    certified = certificate.estimator == "Certified"
    if certified and certificate.subject is None:
        return refused("this claim needs predictions of the model; pass verify(X, y, model=...)")
    model: Any = certificate.subject.estimator_ if certified else None
    name, params = (
        (type(model).__name__, model.get_params(deep=False))
        if certified
        else (certificate.estimator, certificate.params)
    )
    dimension = half_space_dimension(name, params, data.X.shape[1])
    if dimension is None or math.isinf(dimension):
        return refused("the model does not choose among half-spaces")
    rows = data.X if isinstance(data.X, PartitionedRows) else None
    weights = None if rows is not None else data.weights
    used = None if weights is None or certified else weights > 0
    if rows is None:
        n = data.X.shape[0] if used is None else int(np.count_nonzero(used))
    else:
        n = int(rows.map_reduce(_used))
    delta = 1.0 - certificate.params["confidence"] if certified else DELTA
    if certified:
        errors = most = int(row_losses(model, data.given, data.target, {"loss": "zero_one"}).sum())
    else:
        side = _side(certificate, data.X.shape[1])
        if rows is None:
            errors, most = _errors(operator_on(certificate, data), data.target, used, side)
        else:
            errors, most = rows.map_reduce(_part_errors, side).tolist()
    radius = math.sqrt(32 / n * (dimension * math.log(n + 1) + math.log(8 / delta)))
    counted = errors if most == errors else AtMost(float(errors), (most - errors) / 2.5)
    numbers = {
        "n": n, "errors": counted, "dimension": int(dimension), "delta": delta,
        "assumes": ["iid", "class_fixed_a_priori"],
    }  # fmt: skip
    low, high = (min(1.0, (count / n + radius) * (1 + 1e-14)) for count in (errors, most))
    spread = (high - low) / 2.5 + (1e-14 if low < 1 else 0.0)
    return Proof(low, "recomputed", f"{errors} of {n} training rows are wrong.", numbers, spread=spread)


def _side(certificate: Certificate, d: int) -> tuple[np.ndarray, float, list[Any]]:
    """Return the half-space of a model: coefficients, intercept, and both classes."""
    w, b = (np.ravel(np.asarray(certificate.model[name], dtype=np.float64)) for name in ("coef_", "intercept_"))
    classes = certificate.problem.get("classes") or named_classes(certificate.model["classes_"])
    if len(classes) != 2 or len(w) != d or len(b) != 1:
        raise ValueError("a half-space of two classes has one row of coefficients and one intercept")
    return w, float(b[0]) - float(certificate.params.get("tau", 0.0)), classes


def _errors(operator: Any, y: np.ndarray, used: Any, side: tuple[np.ndarray, float, list[Any]]) -> tuple[int, int]:
    """Count the used rows that are not provably on their side, for one and for four times the rounding error."""
    w, level, classes = side
    z, errors, most = operator.times(w), 0, 0
    for start, stop in blocks(len(y), ROWS):
        mid, rad, own = (values[start:stop] for values in (z.mid, z.rad, y))
        if used is not None:  # other rows may have other labels
            mid, rad, own = (values[used[start:stop]] for values in (mid, rad, own))
        radius = rad + 4 * UNIT * (np.abs(mid) + abs(level))
        margin = (2.0 * class_codes(own, classes) - 1.0) * (mid + level)
        errors += len(own) - int(np.count_nonzero(margin > radius))
        most += len(own) - int(np.count_nonzero(margin > 4 * radius))
    return errors, most


def _used(part: Part) -> int:
    return len(part.X) if part.weights is None else int(np.sum(part.weights > 0))


def _part_errors(part: Part, side: tuple[np.ndarray, float, list[Any]]) -> np.ndarray:
    assert part.y is not None
    used = None if part.weights is None else part.weights > 0
    return np.array(_errors(operator_of(part.X), read_target(part.y), used, side))
