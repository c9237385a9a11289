r"""Checks of smoothing splines: the duality gap, the stored curve, and the choice of lambda.

For a function f and numbers :math:`\theta` that are orthogonal to the unpenalized polynomials,

.. math:: P(f) - \min P \le \frac1S \sum_i s_i (r_i - \theta_i / s_i)^2 + \lambda \int \Big( f^{(m)} - \frac{M}{S \lambda} \Big)^2,

where M is the m-th derivative that corresponds to :math:`\theta` (theory: ``smoothing-splines``). The sums are computed
in extended precision if the machine has it. The same sums in double precision give the rounding that a statement allows
for. Criteria are computed by plane rotations, which are independent of the solver.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import AtMost, Proof, claim, refused, shared
from surefit.checks.splines.bounds import Bounds, bounds
from surefit.checks.splines.rotations import Line, criterion, line, solve
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

NAMES = {"gcv": "generalized cross-validation score", "loo": "leave-one-out error", "reml": "restricted likelihood"}


class Target(NamedTuple):
    """Proved quantities of one target: bounds in extended and double precision, and the spline by rotations."""

    fine: Bounds
    plain: Bounds
    edof: float
    variance: float


fact = partial(claim, side="upper", theory="smoothing-splines")


@fact("smoothing_spline.gap", kind="optimality", infinite=True,
      says="A spline with these values, up to {apart:.1g}, has an objective within {value:.3g} of the smallest.")  # fmt: skip
def gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that a spline with values within ``apart`` of the fitted ones has an objective within ``value`` of the smallest."""
    found = _targets(certificate, data)
    null = sum((t.within + float(t.weights @ t.targets**2)) / t.total for t in _lines(certificate, data))
    value, spread = (sum(getattr(t, name).gap for t in found) for name in ("fine", "plain"))
    limit = 1e-9 * null
    asked: dict[str, Any] = {"limit": limit, "limit_spread": gamma(data.X.shape[0] + 64) * limit} if null > 0 else {}
    numbers = {"apart": AtMost(*(max(getattr(t, name).apart for t in found) for name in ("fine", "plain")))}
    return Proof(value, "recomputed", f"P - min P <= {value:.3g} by a dual point.", numbers, spread=spread, **asked)


@fact("smoothing_spline.values", kind="uncertainty", infinite=True,
      says="No fitted value is farther than {value:.3g} from that of the exact minimizer.")  # fmt: skip
def values(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no fitted value is farther than ``value`` from the exact one."""
    found = _targets(certificate, data)
    value, spread = (max(getattr(t, name).distance for t in found) for name in ("fine", "plain"))
    return Proof(value, "recomputed", "from the gap and the variance at each knot.", spread=spread)


@fact("smoothing_spline.derivatives", kind="feasibility", infinite=True,
      says="The stored derivatives are those of the spline up to {value:.2g} of the largest, and the ends are natural.")  # fmt: skip
def derivatives(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the highest derivatives at the knots are those of the dual point, up to ``value`` of the largest."""
    found = _targets(certificate, data)
    value = max(t.fine.derivatives for t in found)
    spread = max(abs(t.plain.derivatives - t.fine.derivatives) for t in found) + gamma(64)
    return Proof(value, "recomputed", "derivatives from the dual point.", spread=spread)


@fact("smoothing_spline.edof", kind="data_fact",
      says="The hat matrix has trace {edof:.6g}, up to {value:.1g}; the variance of the noise is right to {variance:.1g} of "
      "itself.")  # fmt: skip
def edof(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check ``edof_``, up to ``value``, against the trace of the hat matrix, and ``sigma2_`` against its variance."""
    found = _targets(certificate, data)
    stored, noise = (np.atleast_1d(certificate.model[name]) for name in ("edof_", "sigma2_"))
    if stored.shape != (len(found),) or noise.shape != stored.shape:
        return refused("edof_ and sigma2_ are not one number per target")
    off = sum(abs(t.edof - one) for t, one in zip(found, stored, strict=True))
    apart = [
        0.0 if math.isnan(t.variance) and math.isnan(s) else abs(s - t.variance) / max(t.variance, 1e-300)
        for t, s in zip(found, noise, strict=True)
    ]
    # Two computations of a variance at a knot agree up to the rounding of as many rotations as there are knots.
    spread = 4 * gamma(data.X.shape[0] + 64) * max(sum(t.edof for t in found), 1.0) + off
    variance = max(apart) if not any(map(math.isnan, apart)) else math.inf
    numbers = {"edof": float(np.sum(stored)), "variance": AtMost(variance, variance + gamma(data.X.shape[0] + 64))}
    return Proof(off, "recomputed", "trace by rotations.", numbers, spread=spread)


def _choice_in_words(claim: Claim) -> str:
    at = claim.numbers
    where = "" if at["edge"] else ", and a local minimum is within 1 percent of the chosen one"
    return (
        f"None of the {at['compared']} values of lambda compared with the chosen one has a {NAMES[at['criterion']]} smaller by more "
        f"than {claim.value:.2g}{where}."
    )


@fact("smoothing_spline.choice", kind="optimality", says=_choice_in_words)
def choice(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no compared lambda, nor one close to the chosen one, has a criterion smaller by over ``value``."""
    problem, lams, lines = certificate.problem, claim.witness["lams"], _lines(certificate, data)
    name, degree, lam = problem["criterion"], problem["degree"], problem["lam"]
    if lams.ndim != 2 or lams.shape[1] != len(lines) or not np.all(lams > 0) or not np.all(np.isfinite(lams)):
        return refused("the witness does not list values of lambda for each target")
    if problem["lams"] is not None and not np.array_equal(
        lams, np.tile(np.reshape(problem["lams"], (-1, 1)), len(lines))
    ):
        return refused("the values of lambda compared are not the requested ones")
    if len(lams) * data.X.shape[0] > MOST_WORK:
        return refused(f"more than {MOST_WORK} rotations are needed")
    worst, rounding, edge = 0.0, 0.0, bool(claim.witness["edges"].any())
    for k, target in enumerate(lines):
        here = criterion(target, degree, lam[k], name)
        others = [*lams[:, k]]
        if not claim.witness["edges"][k]:
            others += [lam[k] / BRACKET, lam[k] * BRACKET]
        rivals = min(criterion(target, degree, float(other), name) for other in others)
        if math.isfinite(here) or math.isfinite(rivals):
            worst = max(worst, here - rivals)
            rounding = max(rounding, 4 * gamma(len(target.knots) + 64) * (abs(here) + abs(rivals)))
    numbers = {"compared": len(lams), "edge": edge, "criterion": name}
    note = "criterion re-evaluated by rotations."
    return Proof(worst + rounding, "recomputed", note, numbers, spread=rounding)


BRACKET = math.exp(0.01)
MOST_WORK = 10**9


@shared
def _lines(certificate: Certificate, data: Data) -> list[Line]:
    X, origin = np.asarray(data.X, dtype=np.float64), certificate.problem["origin"]
    Y = np.asarray(data.target, dtype=np.float64).reshape(len(X), -1)
    return [line(X[:, 0], column, data.weights, origin) for column in Y.T]


@shared
def _targets(certificate: Certificate, data: Data) -> list[Target]:
    """Return the proved quantities of every target; raise an error for arrays that are not a spline on these rows."""
    problem, model, lines = certificate.problem, certificate.model, _lines(certificate, data)
    degree, coef = problem["degree"], model["coef_"]
    duals = certificate["smoothing_spline.gap"].witness["dual"]
    fits = _on_these_rows(problem, model, lines[0], gamma(data.X.shape[0] + 8))
    fits = fits and duals.shape == (len(lines[0].knots), len(lines)) and len(problem["lam"]) == len(lines)
    coef = coef.reshape(*coef.shape[:2], -1) if fits else np.zeros((1, 1, 0))
    if coef.shape[2] != len(lines) or np.any(coef[(degree + 1) // 2 :, -1] != 0):
        raise ValueError("the stored spline is not one with a knot at every distinct x of positive weight")
    return [
        prove(target, degree, float(lam), coef[:, :, k], duals[:, k])
        for k, (target, lam) in enumerate(zip(lines, problem["lam"], strict=True))
    ]


def _on_these_rows(problem: Any, model: Any, first: Line, rounding: float) -> bool:
    """Return whether the stored arrays have the knots of these rows, their weights up to ``rounding``, and the problem's lambda."""
    knots, mass, coef = first.knots, first.weights, model["coef_"]
    if problem["origin"] is not None:
        knots = np.append(problem["origin"], knots)
        mass = np.append(max(first.total - float(mass.sum()), 0.0), mass)
    fits = coef.ndim in (2, 3) and coef.shape[:2] == (problem["degree"] + 1, len(knots)) and np.isfinite(coef).all()
    fits = fits and np.array_equal(model["knots_"], knots)
    fits = fits and np.array_equal(np.atleast_1d(model["lam_"]), problem["lam"])
    fits = fits and model["knot_weights_"].shape == mass.shape
    return bool(fits) and bool(np.all(np.abs(model["knot_weights_"] - mass) <= rounding * (mass + first.total)))


@np.errstate(over="ignore", invalid="ignore", divide="ignore")
def prove(target: Line, degree: int, lam: float, coef: np.ndarray, dual: np.ndarray) -> Target:
    """Bound the distance of the fitted values ``coef[0]`` from the exact ones."""
    largest, trace, squares = _by_rotations(target, degree, lam)
    fine, plain = (bounds(target, degree, lam, coef, dual, largest, kind) for kind in (np.longdouble, np.float64))
    noise = float(np.max(np.abs(target.targets), initial=0.0)) * math.sqrt(target.total * largest)
    # double precision does not resolve smaller differences
    plain = plain._replace(distance=plain.distance + 2 * UNIT * noise)
    plain = Bounds(*(a if math.isfinite(a) else b for a, b in zip(plain, fine, strict=True)))
    left = target.total - trace
    return Target(fine, plain, trace, squares / left if left > 0 else math.nan)


def _by_rotations(target: Line, degree: int, lam: float) -> tuple[float, float, float]:
    """Return the largest variance of a value, the trace of the hat matrix, and the residual sum of squares."""
    found = solve(target, degree, lam)
    r = target.targets - found.values
    squares = target.within + float((target.weights * r) @ r)
    return float(np.max(found.variances, initial=0.0)), float(target.weights @ found.variances), squares
