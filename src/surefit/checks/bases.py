"""Checks that a basis follows from its parameters and the training rows, and of the kernel of polynomial features."""

from __future__ import annotations

from math import comb, factorial
from typing import Any

import numpy as np

from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.distinct import unique_rows
from surefit.core.sample import Data

LARGEST_DEGREE = 170  # larger factorials overflow


def _origin(claim: Claim) -> str:
    if claim.value == 0:
        return "The map was fixed before the rows were seen; only their number of columns was read."
    return (
        f"The map depends on the training rows ({claim.value:g} numbers): bounds that need a map fixed "
        f"beforehand hold only for other rows."
    )


@claim("bases.map", kind="process_fact", side="exact", theory="least-squares-gap", says=_origin)
def origin(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the map follows from the parameters and the rows; count the numbers that depend on the rows."""
    problem, model = certificate.problem, certificate.model
    X = np.asarray(data.X, dtype=np.float64)
    expected, placed = MAPS[problem["map"]](problem, model, X)
    for name, right in expected.items():
        if np.shape(model[name]) != np.shape(right):
            return refused(f"{name} must have the shape {np.shape(right)}")
        # a quantile or a range interpolates between two entries of a column
        off = gamma(8) * (np.abs(right) + np.max(np.abs(X), axis=0)) if name in placed else 0.0
        if not np.all(np.abs(np.asarray(model[name], dtype=np.float64) - right) <= off):
            return refused(f"{name} does not follow from the parameters and the rows")
    count = sum(int(np.size(model[name])) for name in placed)
    return Proof(float(count), "exact" if not placed else "enclosed", f"placed by the {problem['placed_by']}.")


@claim("bases.kernel", kind="data_fact", side="upper", theory="least-squares-gap",
       says="Inner products of the {features} features are the kernel (1 + <x, x'>)^{degree} up to {value:.3g} times "
            "(1 + <|x|, |x'|>)^{degree}, for all x and x'.")  # fmt: skip
def kernel(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check that the squared scales are the multinomial coefficients of the kernel's expansion."""
    degree, powers = certificate.problem["degree"], certificate.model["powers_"]
    scales = np.asarray(certificate.model["scales_"], dtype=np.float64)
    if not 1 <= degree <= LARGEST_DEGREE:
        return refused(f"coefficients are known up to degree {LARGEST_DEGREE}")
    _require_all(powers, degree, data.X.shape[1], least=0)
    if scales.shape != (len(powers),) or not np.all(scales > 0):
        return refused("scales_ must have one positive entry per row of powers_")
    factorials = np.array([float(factorial(k)) for k in range(degree + 1)])
    rest = factorials[degree - powers.sum(axis=1)]
    right = factorials[degree] / (rest * np.prod(factorials[powers], axis=1))
    off = gamma(degree + 8)  # at most degree / 2 factorials differ from one; then a square, a division and a difference
    numbers = {"features": len(powers), "degree": degree}
    found = float(np.max(np.abs(scales * scales / right - 1.0))) + off
    return Proof(found, note="multinomial coefficients recomputed.", numbers=numbers, spread=off)


def _squares(problem: dict[str, Any], model: dict[str, Any], X: np.ndarray) -> tuple[dict[str, Any], tuple[str, ...]]:
    d = X.shape[1]
    return {"n_output_features_": d + 1 if problem["squares"] == "sum" else 2 * d}, ()


def _waves(problem: dict[str, Any], model: dict[str, Any], X: np.ndarray) -> tuple[dict[str, Any], tuple[str, ...]]:
    if "period" in problem:
        return {"n_output_features_": 2 * problem["n_frequencies"] * X.shape[1]}, ()
    own = problem["frequencies"]
    return {"frequencies_": own, "n_output_features_": 2 * len(own) * X.shape[1]}, ()


def _bumps(problem: dict[str, Any], model: dict[str, Any], X: np.ndarray) -> tuple[dict[str, Any], tuple[str, ...]]:
    by, n, count = problem["placed_by"], problem["n_centers"], len(model["centers_"])
    expected: dict[str, Any] = {"n_output_features_": count, "widths_": np.broadcast_to(problem["widths"], count)}
    if by == "parameters":
        return {**expected, "centers_": problem["centers"]}, ()
    if by == "quantiles":
        expected["centers_"] = np.quantile(X, (np.arange(n) + 0.5) / n, axis=0)
    elif by == "rows":  # drawn at random: any distinct rows are valid
        rows = {row.tobytes() for row in X + 0.0}
        chosen = [row.tobytes() for row in np.asarray(model["centers_"], dtype=np.float64) + 0.0]
        if count != min(n, len(X)) or not rows.issuperset(chosen):
            raise ValueError("centers_ must be rows of X")
    elif not np.all(np.isfinite(model["centers_"])) or model["centers_"].shape != (count, X.shape[1]):
        raise ValueError("centers_ must be finite rows")
    return expected, ("centers_",)


def _hinges(problem: dict[str, Any], model: dict[str, Any], X: np.ndarray) -> tuple[dict[str, Any], tuple[str, ...]]:
    d = X.shape[1]
    if problem["placed_by"] == "parameters":
        knots, placed = np.repeat(np.sort(problem["knots"])[:, None], d, axis=1), ()
    else:
        n = problem["n_knots"]
        knots, placed = np.quantile(X, np.arange(1, n + 1) / (n + 1), axis=0), ("knots_",)  # type: ignore[assignment]
    return {"knots_": knots, "n_output_features_": d * (len(knots) + 1)}, placed


def _monomials(problem: dict[str, Any], model: dict[str, Any], X: np.ndarray) -> tuple[dict[str, Any], tuple[str, ...]]:
    d, degree = X.shape[1], problem["degree"]
    _require_all(model["powers_"], degree, d, least=1)
    expected = {"n_output_features_": comb(d + degree, d) - 1, "center_": np.zeros(d), "half_range_": np.ones(d)}
    if problem["placed_by"] == "parameters":
        return expected, ()
    low, high = X.min(axis=0), X.max(axis=0)
    half = np.where(high > low, (high - low) / 2, 1.0)
    return {**expected, "center_": (low + high) / 2, "half_range_": half}, ("center_", "half_range_")


def _kernel_monomials(
    problem: dict[str, Any], model: dict[str, Any], X: np.ndarray
) -> tuple[dict[str, Any], tuple[str, ...]]:
    return {"n_output_features_": comb(X.shape[1] + problem["degree"], X.shape[1])}, ()


MAPS = {
    "squares": _squares,
    "waves": _waves,
    "bumps": _bumps,
    "hinges": _hinges,
    "monomials": _monomials,
    "kernel monomials": _kernel_monomials,
}


def _require_all(powers: np.ndarray, degree: int, d: int, least: int) -> None:
    """Raise an error unless the exponents are those of all monomials up to the degree, each once."""
    count = comb(d + degree, d) - least
    right = powers.shape == (count, d) and powers.dtype.kind == "i" and bool(np.all(powers >= 0))
    if right:
        sums = powers.sum(axis=1)
        right = bool(np.all((sums >= least) & (sums <= degree))) and len(unique_rows(powers)) == count
    if not right:
        raise ValueError(f"powers_ must be the exponents of all {count} monomials, each once")
