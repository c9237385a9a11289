"""Problems of basis expansions: the feature map, and whether it depends on the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.problems.base import Given, problem_of


@problem_of("CircleBasis")
def circle(given: Given) -> dict[str, Any]:
    """Return the map of the columns and their squares, or the sum of their squares."""
    return {"map": "squares", "squares": given.params["squares"], "placed_by": "parameters"}


@problem_of("FourierBasis")
def fourier(given: Given) -> dict[str, Any]:
    """Return the map of sines and cosines of the multiples of one frequency."""
    params = given.params
    return {
        "map": "waves",
        "n_frequencies": int(params["n_frequencies"]),
        "period": float(params["period"]),
        "placed_by": "parameters",
    }


@problem_of("PeriodicBasis")
def periodic(given: Given) -> dict[str, Any]:
    """Return the map of sines and cosines of given frequencies."""
    return {"map": "waves", "frequencies": _numbers(given.params["frequencies"]).ravel(), "placed_by": "parameters"}


@problem_of("RadialBasis")
def radial(given: Given) -> dict[str, Any]:
    """Return the map of Gaussian functions around given centers, or around centers chosen from the rows."""
    centers, widths = given.params["centers"], _numbers(given.params["widths"])
    problem: dict[str, Any] = {"map": "bumps", "n_centers": int(given.params["n_centers"]), "widths": widths}
    if isinstance(centers, str) and centers in ("quantiles", "rows"):
        return {**problem, "placed_by": centers}
    if isinstance(centers, str) or hasattr(centers, "fit"):  # a certificate stores an estimator as text
        return {**problem, "placed_by": "clustering"}
    return {**problem, "centers": _numbers(centers), "placed_by": "parameters"}


@problem_of("HingeBasis")
def hinges(given: Given) -> dict[str, Any]:
    """Return the map of hinge functions at given knots, or at quantiles."""
    knots = given.params["knots"]
    if isinstance(knots, (int, np.integer)):
        return {"map": "hinges", "n_knots": int(knots), "placed_by": "quantiles"}
    return {"map": "hinges", "knots": _numbers(knots), "placed_by": "parameters"}


@problem_of("PolynomialBasis")
def monomials(given: Given) -> dict[str, Any]:
    """Return the map of monomials up to a degree, of the columns or of columns scaled by their range."""
    placed = "range" if given.params["scale"] else "parameters"
    return {"map": "monomials", "degree": int(given.params["degree"]), "placed_by": placed}


@problem_of("KernelPolynomialFeatures")
def kernel_monomials(given: Given) -> dict[str, Any]:
    """Return the map of monomials whose inner products are the polynomial kernel."""
    return {"map": "kernel monomials", "degree": int(given.params["degree"]), "placed_by": "parameters"}


def _numbers(value: Any) -> np.ndarray:
    return np.array(value, dtype=np.float64)
