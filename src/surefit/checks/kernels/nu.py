r"""Checks of support vector machines with ``nu``: the gap of a problem with free margin, tube width or threshold.

For a feasible :math:`\hat\beta` (in its box, with the sums required by the free variables) and residuals
:math:`r_i = y_i - f(x_i) - b`,

.. math:: P - D \le \sum_i \bigl[h_i (r_i - \varepsilon)_+ - l_i (-r_i - \varepsilon)_+ + \varepsilon|\hat\beta_i| - \hat\beta_i r_i\bigr]
          + \varepsilon \Bigl(\nu \sum_i c_i - \sum_i |\hat\beta_i|\Bigr) + \tfrac12 \Bigl(\sum_i |\beta_i - \hat\beta_i| \sqrt{k(x_i,
          x_i)}\Bigr)^2 .

The stored coefficients :math:`\beta` become feasible by a change of the size of rounding errors (theory: ``nu-gap``).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from surefit.checks.eigen import weights_of
from surefit.checks.enclosure import UNIT, Bound, Enclosed, gamma, upper_sum
from surefit.checks.judge import Proof, claim, shared
from surefit.checks.kernels.machines import (
    NEAR,
    VIOLATED,
    WITHIN,
    Found,
    Machine,
    counted,
    distance_of,
    gap_of,
    lines_of,
    machines_of,
    scores_of,
)
from surefit.checks.kernels.model import require_codes, require_rows
from surefit.checks.kernels.operator import Gram, kernel_on
from surefit.checks.kernels.values import assumptions_of, require_definite
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError
from surefit.core.sample import Data

bounded = partial(claim, side="upper", theory="nu-gap", infinite=True)
bound = partial(bounded, kind="optimality", assumptions=assumptions_of)
SCALED = "Each function is within {value:.3g} of a multiple of the optimal one, in the norm of the kernel's space."


@bound("nu_svc.gap", says=WITHIN)
@bound("nu_svr.gap", says=WITHIN)
@bound("one_class.gap", says=WITHIN)
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the sum of P - min P over the problems is at most ``value``."""
    require_definite(kernel_on(certificate, data))
    return gap_of(certificate, data, examine(certificate, data))


@bounded("nu_svc.stationarity", kind="stationarity", says=VIOLATED)
@bounded("nu_svr.stationarity", kind="stationarity", says=VIOLATED)
@bounded("one_class.stationarity", kind="stationarity", says=VIOLATED)
def stationarity(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the optimality conditions are violated by at most ``value`` in total, for an indefinite kernel."""
    return gap_of(certificate, data, examine(certificate, data))._replace(numbers={})


@bound("nu_svc.distance", says=SCALED)
@bound("nu_svr.distance", says=NEAR)
@bound("one_class.distance", says=NEAR)
def distance(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that each function is within ``value`` of a multiple of the optimal one in the RKHS norm."""
    return distance_of(certificate, data, examine(certificate, data))


@shared
def examine(certificate: Certificate, data: Data) -> list[Found]:
    """Return the proved bounds for every dual problem; the problems share the kernel values."""
    require_rows(certificate, data, "support_vectors_", certificate.model["support_"])
    require_codes(certificate, data)
    lengths, scores = Gram.of(certificate, data).lengths(), scores_of(certificate, data)
    classes, nu = certificate.problem.get("classes"), float(certificate.problem["nu"])
    single = classes is None and "C" not in certificate.problem
    machines = [_half_space(certificate, data)] if single else machines_of(certificate, data)
    found = []
    for p, m in enumerate(machines):
        if not (np.all(np.isfinite(m.c)) and np.all(m.c > 0) and 0 <= m.epsilon < math.inf):
            raise CertificateError(f"{certificate.estimator}: C_ and epsilon_ must be finite and not negative.")
        near = feasible(m, nu, single)
        found.append(prove(m, nu, Enclosed(scores.mid[m.rows, p], scores.rad[m.rows, p]), lengths[m.rows], near))
    return found


def _half_space(certificate: Certificate, data: Data) -> Machine:
    """Return the one-class problem: zero targets, and minus the threshold as the intercept."""
    s, beta = weights_of(data), lines_of(certificate, data)[0]
    rows = counted(s > 0, beta)
    zero, b = np.zeros(len(rows)), float(np.atleast_1d(certificate.model["intercept_"])[0])
    return Machine(rows, zero, zero, s[rows], 0.0, beta[rows], b, False)


def feasible(m: Machine, nu: float, single: bool) -> np.ndarray:
    """Return coefficients in the box with the required sums, up to rounding: half per class, or all for one class.

    In regression the sums may be smaller. A sum that is too large is scaled down; a missing amount is added in
    proportion to the distances from the bounds.
    """
    beta = np.clip(m.beta, m.low, m.high)
    tube = bool(np.any((m.low < 0) & (m.high > 0)))
    whole = nu * math.fsum(m.c)
    have = [math.fsum(np.maximum(sign * beta, 0.0)) for sign in (1.0, -1.0)]
    most = min(math.fsum(m.high), -math.fsum(m.low))  # a class may have less weight than nu requires
    want = whole if single else min(whole / 2, *have) if tube else min(whole / 2, most)
    for sign, cap, used in ((1.0, m.high, have[0]), (-1.0, -m.low, have[1])):
        own = sign * beta
        if used > want:
            beta = np.where(own > 0, beta * (want / used), beta)
        elif used < want and np.any(cap > 0):
            room = np.where(cap > 0, cap - np.maximum(own, 0.0), 0.0)
            total = math.fsum(room)
            beta = beta + sign * room * (min((want - used) / total, 1.0) if total > 0 else 0.0)
    return beta


def prove(m: Machine, nu: float, f: Enclosed, lengths: np.ndarray, beta: np.ndarray) -> Found:
    """Bound P - min P of one problem with the feasible coefficients ``beta``."""
    c, eps, whole = m.c, m.epsilon, nu * math.fsum(m.c)
    off = 16 * UNIT * (np.abs(m.beta) + np.abs(beta) + c)  # difference from exactly feasible coefficients, at most
    r = m.y - f.mid - m.b
    r_rad = f.rad + 4 * UNIT * (np.abs(m.y) + np.abs(f.mid) + abs(m.b))
    losses = m.high * np.maximum(r - eps, 0.0) - m.low * np.maximum(-r - eps, 0.0)
    terms = losses + eps * np.abs(beta) - beta * r
    rounding = 2 * c * r_rad + (eps + np.abs(r) + r_rad) * off + gamma(8) * (c + np.abs(beta)) * (np.abs(r) + eps)
    unused = eps * max(whole - math.fsum(np.abs(beta)), 0.0) + 16 * UNIT * eps * whole
    moved = upper_sum((np.abs(m.beta - beta) + off) * lengths) * (1 + 8 * UNIT)
    value = (upper_sum(np.maximum(terms, 0.0) + rounding) + unused + 0.5 * moved**2) * (1 + 16 * UNIT)
    spread = 2 * upper_sum(rounding) + 0.5 * moved**2 + 32 * UNIT * (eps * whole + value)
    square = math.fsum(m.beta * f.mid)
    square_rad = upper_sum(np.abs(m.beta) * f.rad) + gamma(8) * upper_sum(np.abs(m.beta * f.mid))
    objective = 0.5 * square + math.fsum(losses) + eps * whole
    size = 0.5 * square_rad + upper_sum(c * r_rad) + gamma(16) * (abs(objective) + upper_sum(losses))
    away = Bound(2 * value * (1 + 2 * UNIT), 2 * spread).root()
    return Found(value, spread, value, objective + size, 2 * size, f, away)
