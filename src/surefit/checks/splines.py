r"""Checks smoothing splines: the gap of kernel ridge with a null space, the banded equations, and the choice of lambda.

For a function f and numbers :math:`\theta` that are orthogonal to the polynomials that are not penalised,

.. math:: P(f) - \min P \le \frac1S \sum_i s_i (r_i - \theta_i / s_i)^2 + \lambda \int \Big( f^{(m)} - \frac{M}{S \lambda} \Big)^2,

with M the m-th derivative that :math:`\theta` would cause (theory: ``smoothing-splines``). The sums are taken in extended precision where
the machine has it; criteria come from plane rotations, a road that shares nothing with the solver.
"""

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.spline_equations import backward_error
from surefit.checks.spline_rotations import Line, criterion, line, solve
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

LONG = np.longdouble
ROUNDING_OF_CLAIMS = 1e-20  # share of the objective: squares of rounding errors
SAME = 1e-9  # two routes to one criterion agree to this much


class Proof(NamedTuple):
    """What the data prove about one target."""

    gap: float
    distance: float
    backward: float
    edof: float


@checker("smoothing_spline.gap")
def check_gap(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """A spline with the fitted values has an objective within value of the smallest."""
    gap = sum(proof.gap for proof in _proofs(certificate, data))
    ok = gap <= claim.value + ROUNDING_OF_CLAIMS * claim.numbers["null_objective"]
    return Finding(claim.name, claim.value, gap, ok, "recomputed", f"P - min P <= {gap:.3g} by a dual point.")


@checker("smoothing_spline.values")
def check_values(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No fitted value is farther than value from the exact one."""
    distance = max(proof.distance for proof in _proofs(certificate, data))
    size = float(np.max(np.abs(certificate.model["coef_"][0])))
    ok = distance <= claim.value + 1e-15 * size
    return Finding(claim.name, claim.value, distance, ok, "recomputed", "from the gap and the variance at each knot.")


@checker("smoothing_spline.normal_equations")
def check_normal_equations(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The banded equations hold up to a relative change of their entries, and the ends are natural."""
    backward = max(proof.backward for proof in _proofs(certificate, data))
    ok = backward <= claim.value
    return Finding(claim.name, claim.value, backward, ok, "recomputed", "banded residual, entry by entry.")


@checker("smoothing_spline.edof")
def check_edof(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The trace of the hat matrix is the number stated, up to value."""
    edof = sum(proof.edof for proof in _proofs(certificate, data))
    stated = float(np.sum(certificate.model["edof_"]))
    off = max(abs(edof - stated), abs(stated - claim.numbers["edof"]))
    return Finding(claim.name, claim.value, off, off <= claim.value, "recomputed", f"trace {edof:.6g} by rotations.")


@checker("smoothing_spline.choice")
def check_choice(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No declared lambda has a smaller criterion, nor one a little smaller or larger than the chosen one."""
    problem, step = certificate.problem, math.exp(claim.numbers["bracket"])
    worst, degree, name = 0.0, problem["degree"], problem["criterion"]
    for k, (target, lam) in enumerate(zip(_lines(certificate, data), problem["lam"], strict=True)):
        here = criterion(target, degree, lam, name)
        others = [*claim.witness["lams"][:, k]]
        if not claim.numbers["edges"][k]:
            others += [lam / step, lam * step]
        rivals = min(criterion(target, degree, float(other), name) for other in others)
        if math.isfinite(here) or math.isfinite(rivals):
            worst = max(worst, here - rivals - SAME * abs(here))
    ok = worst <= claim.value
    return Finding(claim.name, claim.value, worst, ok, "recomputed", "criterion re-evaluated by rotations.")


def _lines(certificate: Certificate, data: Data) -> list[Line]:
    if "smoothing_spline.lines" not in data.memo:
        X = np.asarray(data.X, dtype=np.float64)
        Y = np.asarray(data.target, dtype=np.float64).reshape(len(X), -1)
        data.memo["smoothing_spline.lines"] = [
            line(X[:, 0], column, data.weights, certificate.problem["origin"]) for column in Y.T
        ]
    return data.memo["smoothing_spline.lines"]


def _proofs(certificate: Certificate, data: Data) -> list[Proof]:
    if "smoothing_spline" not in data.memo:
        problem = certificate.problem
        coef = certificate.model["coef_"]
        coef = coef.reshape(*coef.shape[:2], -1)
        duals = certificate["smoothing_spline.gap"].witness["dual"]
        data.memo["smoothing_spline"] = [
            prove(target, problem["degree"], float(lam), coef[:, :, k], duals[:, k])
            for k, (target, lam) in enumerate(zip(_lines(certificate, data), problem["lam"], strict=True))
        ]
    return data.memo["smoothing_spline"]


@np.errstate(over="ignore", invalid="ignore")
def prove(target: Line, degree: int, lam: float, coef: np.ndarray, dual: np.ndarray) -> Proof:
    """Bound the distance of the fitted values ``coef[0]`` from the exact ones."""
    w, y, knots = (part.astype(LONG) for part in (target.weights, target.targets, target.knots))
    strength = LONG(target.total) * LONG(lam)
    general = target.lead < 0
    gaps = np.diff(knots) if general else np.concatenate([[LONG(target.lead)], np.diff(knots)])
    f = coef[0].astype(LONG) - LONG(target.offset)
    values = f if general else f[1:]
    place = knots - knots[0]
    basis = [np.ones(len(knots), dtype=LONG), place - w @ place / w.sum()][: (degree + 1) // 2] if general else []
    theta = _without(dual.astype(LONG), w, basis)
    tail = np.cumsum(theta[::-1])[::-1] / strength
    right = tail[1:] if general else tail
    if degree == 3:
        g = coef[1].astype(LONG)
        bend = np.zeros(len(f), dtype=LONG)
        bend[:-1] = np.cumsum((gaps * right)[::-1])[::-1]
        low, high, secant = bend[:-1], bend[1:], np.diff(f) / gaps
        off_low = (6 * secant - 4 * g[:-1] - 2 * g[1:]) / gaps - low
        off_high = (2 * g[:-1] + 4 * g[1:] - 6 * secant) / gaps - high
        mismatch = gaps @ (off_low**2 + off_low * off_high + off_high**2) / 3
        slope = np.concatenate([[LONG(0)], np.cumsum(gaps * (low + high) / 2)])
        rise = gaps * slope[:-1] + gaps**2 * (2 * low + high) / 6
    else:
        mismatch = gaps @ (np.diff(f) / gaps - right) ** 2
        rise = gaps * right
    curve = np.concatenate([[LONG(0)], np.cumsum(rise)])[0 if general else 1 :]
    off = _without(w * (y - curve - theta / w), w, basis) / w
    through_values = float(w @ (y - values - theta / w) ** 2 + strength * mismatch)
    through_dual = float(w @ off**2)
    apart = float(np.max(np.abs(values - (y - theta / w - off)), initial=LONG(0)))
    found = solve(target, degree, lam)
    reach = float(np.max(found.variances, initial=0.0))
    bounds = [(through_values, math.sqrt(through_values * reach))]
    bounds.append((through_dual, apart + math.sqrt(through_dual * reach)))
    gap, distance = (min(bound for bound in column if not math.isnan(bound)) for column in zip(*bounds, strict=True))
    backward = backward_error(target, degree, strength, coef.astype(LONG), gaps)
    return Proof(gap / target.total, distance, backward, float(target.weights @ found.variances))


def _without(vector, w, basis):
    """Make a vector orthogonal to the columns of ``basis``, which are so to each other in the weights w."""
    for column in basis:
        vector = vector - w * column * (vector @ column / (w @ column**2))
    return vector
