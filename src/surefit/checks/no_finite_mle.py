r"""Checks that the likelihood of a logistic model has no maximum: a direction along which no row loses and some gain.

Along coefficients :math:`V` (one line a class) the log-likelihood of row :math:`i` of class :math:`k` rises for ever if
:math:`\tilde x_i^\top(V_k - V_l) \ge 0` for all :math:`l`, strictly for one :math:`l`. If no row falls and some row rises, every finite
estimate can be improved (theory: ``separation-and-mle``). Signs are settled exactly.
"""

import numpy as np

from surefit.checks import integers
from surefit.checks.base import Data, Finding, checker
from surefit.checks.linear_scores import class_codes
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("logistic.no_finite_mle")
def check_no_finite_mle(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No row of positive weight lies on the wrong side of the direction and at least one lies strictly on its own."""
    directions = [integers.vector(line) for line in _common_scale(claim.witness["V"])]
    codes, free = class_codes(certificate, data), certificate.problem["fit_intercept"]
    counted = np.ones(len(codes), dtype=bool) if data.weights is None else data.weights > 0
    wrong, strict, level = 0, 0, "exact"
    for k, own in enumerate(directions):
        rows = np.flatnonzero((codes == k) & counted)
        for other, theirs in enumerate(directions):
            if other == k or len(rows) == 0:
                continue
            v = [a - b for a, b in zip(own, theirs, strict=True)]
            signs, how = integers.signs(data.X[rows], v, free)
            level = "enclosed" if how == "enclosed" else level
            wrong, strict = wrong + int(np.sum(signs < 0)), strict + int(np.sum(signs > 0))
    ok = wrong <= claim.value and strict > 0
    message = (
        "a direction improves the likelihood for ever." if ok else f"{wrong} comparisons get worse along the direction."
    )
    return Finding(claim.name, claim.value, float(wrong if strict else np.inf), ok, level, message)


def _common_scale(V: np.ndarray) -> list[np.ndarray]:
    """Lines as integers of one common scale: floats share a power of two, texts are integers already."""
    if V.dtype.kind == "U":
        return list(V)
    whole = integers.integers(V.ravel())[0]
    lines = np.array([str(entry) for entry in whole]).reshape(V.shape)
    return list(lines)
