"""What a fitted smoothing spline claims."""

import numpy as np

from surefit.checks.spline_equations import backward_error
from surefit.checks.spline_rotations import Line
from surefit.core.claims import Claim
from surefit.solvers.spline.search import BRACKET
from surefit.splines.fitting import Fit

NAMES = {
    "gcv": "generalised cross-validation score",
    "loo": "leave-one-out error",
    "reml": "restricted likelihood criterion",
}
EPS = float(np.finfo(np.float64).eps)


def claims(fits: list[Fit], criterion: str | None) -> list[Claim]:
    """State what the fits of all targets prove."""
    objective = sum(fit.proof.objective for fit in fits)
    null = sum(_null(fit) for fit in fits)
    gap = 16 * sum(fit.proof.gap for fit in fits) + EPS**2 * null
    size = max(float(np.max(np.abs(fit.coef[0]))) for fit in fits)
    distance = 8 * max(fit.proof.distance for fit in fits) + 64 * EPS * size
    backward = max(_backward(fit) for fit in fits)
    edof = sum(fit.edof for fit in fits)
    duals = np.stack([fit.proof.dual for fit in fits], axis=-1)
    result = [
        Claim(
            "smoothing_spline.gap",
            "optimality",
            f"A spline with these values, up to rounding, has an objective within {gap:.3g} of the smallest, {objective:.6g}.",
            value=gap,
            limit=max(1e-9 * null, gap if null == 0 else 0.0),
            numbers={"objective": objective, "null_objective": null},
            witness={"dual": duals},
        ),
        Claim(
            "smoothing_spline.values",
            "uncertainty",
            f"No fitted value is farther than {distance:.3g} from that of the exact minimiser.",
            value=distance,
        ),
        Claim(
            "smoothing_spline.normal_equations",
            "feasibility",
            f"The banded equations of the spline hold up to a relative change of {backward:.3g} in their entries.",
            value=backward,
            limit=1e-6,
        ),
        Claim(
            "smoothing_spline.edof",
            "data_fact",
            f"The hat matrix has trace {edof:.6g}, up to {1e-8 * max(edof, 1.0):.1g}.",
            value=1e-8 * max(edof, 1.0),
            numbers={"edof": edof},
        ),
    ]
    if criterion is not None:
        result += choice_claims(fits, criterion)
    return result


def choice_claims(fits: list[Fit], criterion: str) -> list[Claim]:
    """Say that no lambda of the grid is better, nor one a little smaller or larger."""
    choices = [fit.choice for fit in fits if fit.choice is not None]
    count = len(choices[0].lams)
    edges = [bool(choice.edge) for choice in choices]
    where = "" if any(edges) else f", and a local minimum is within {100 * BRACKET:.0f} percent of it"
    name = NAMES[criterion]
    return [
        Claim(
            "smoothing_spline.choice",
            "optimality",
            f"None of {count} declared values of lambda has a smaller {name}{where}.",
            value=0.0,
            limit=0.0,
            numbers={"bracket": BRACKET, "criterion": criterion, "edges": edges},
            witness={"lams": np.stack([choice.lams for choice in choices], axis=-1)},
        ),
        Claim(
            "smoothing_spline.score",
            "estimate",
            f"The {name} is {choices[0].value:.6g}: an estimate, not a bound.",
            value=float(choices[0].value),
        ),
    ]


def _null(fit: Fit) -> float:
    p = fit.problem
    return (p.within + float(p.weights @ p.targets**2)) / p.total


def _backward(fit: Fit) -> float:
    """Relative residual of the banded equations in plain floats, at least what rounding leaves."""
    p = fit.problem
    lead = p.lead * p.length
    target = Line(p.knots, p.weights, p.targets, p.offset, lead, p.total, p.within, p.rows, p.weights, p.targets)
    return 4 * backward_error(target, p.degree, p.total * fit.lam, fit.coef, np.diff(fit.knots)) + 64 * EPS
