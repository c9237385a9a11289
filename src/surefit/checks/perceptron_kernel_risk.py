r"""Checks the risk bound of a kernel perceptron by scoring every row with the updates that were made before it was met.

With :math:`q_j` the place of the :math:`j`-th update in the first pass, a row at place :math:`s` was scored by
:math:`\sum_{q_j < s} a_j t_j (k(x_j, x) + c^2)`. The rest is the argument of the plain perceptron (theory:
``progressive-validation``).
"""

from __future__ import annotations

import math

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.enclosure import gamma, row_blocks
from surefit.checks.perceptron import labels_of, problem_of
from surefit.checks.perceptron_kernel import kernel_values
from surefit.checks.perceptron_risk import log_capital
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim


@checker("perceptron.kernel_risk")
def check_risk(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The rows that were mistaken when first met were counted right, and the bound follows from them."""
    n = data.X.shape[0]
    order = claim.witness.get("order", np.arange(n)).astype(np.int64)
    if not np.array_equal(np.sort(order), np.arange(n)):
        return Finding(claim.name, claim.value, 1.0, False, "exact", "the first pass did not visit each row once.")
    sure, vague = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    for replay in certificate.claims:
        if replay.name == "perceptron.kernel_replay":
            wrong, unclear = _first_pass(certificate, replay, data, order)
            sure, vague = sure | wrong, vague | unclear
    errors, open_cases = int(sure.sum()), int(np.sum(vague & ~sure))
    delta = claim.numbers["delta"]
    enough = claim.value >= 1.0 or log_capital(claim.value, claim.numbers["errors"], n, delta) >= -math.log(delta)
    ok = errors <= claim.numbers["errors"] and enough and claim.confidence == 1.0 - delta
    level = "enclosed" if errors + open_cases <= claim.numbers["errors"] else "recomputed"
    message = f"{errors} of {n} rows were mistaken when first met; the bound holds if the assumptions do."
    if not ok:
        message = f"{errors} of {n} rows were mistaken when first met: too many for the bound."
    return Finding(claim.name, claim.value, claim.value if ok else 1.0, ok, level, message)


def _first_pass(
    certificate: Certificate, replay: Claim, data: Data, order: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return which rows were mistaken for sure when met, and which may have been: decided by less than rounding."""
    t, n = labels_of(certificate, replay, data), len(order)
    minus, plus = certificate.problem["steps"][problem_of(replay)]
    place = np.empty(n, dtype=np.int64)
    place[order] = np.arange(n)
    logged = replay.witness["rows"][: int(replay.witness["after_pass"][0])].astype(np.int64)
    signed = np.where(t[logged] > 0, plus, -minus)
    beta = certificate.problem["bias_step"]
    sure, vague = np.zeros(n, dtype=bool), np.zeros(n, dtype=bool)
    sure[logged] = True
    if len(logged) == 0:  # the first row met has score zero: a mistake that an honest log contains
        sure[order[0]] = True
        return sure, vague
    for rows in row_blocks(n):
        here = np.arange(n)[rows]
        seen = np.where(place[logged][None, :] < place[here][:, None], signed, 0.0)
        K = kernel_values(certificate, data, here, logged)
        margins = t[here] * ((K.mid + beta) * seen).sum(axis=1)
        size = ((np.abs(K.mid) + K.rad + beta) * np.abs(seen)).sum(axis=1)
        rad = (K.rad * np.abs(seen)).sum(axis=1) + 2 * gamma(len(logged) + 4) * size
        sure[here] |= margins + rad <= 0
        vague[here] |= margins - rad <= 0
    return sure, vague
