r"""Reads a model of another library as one of our problems: its data, its coefficients, its conventions.

A library that penalises the intercept solves a problem without one, on rows with one more column; a pipeline hands its last step
transformed rows. Both are undone here, so that the checkers of our own families can judge the rest.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.base import Data, read
from surefit.checks.linear_scores import columns_of
from surefit.checks.multinomial import class_codes, log_softmax
from surefit.checks.score_losses import values
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError, Invalidated

#: What the checker of least squares remembers of the rows alone, whatever the coefficients.
FACTORS = "least_squares.frame"
#: In witnesses: attributes of a model that are not attributes of the object the certificate is bound to.
INSIDE = "model."

Derive = Callable[[Any], dict[str, np.ndarray]]
DERIVED: dict[str, Derive] = {}


def inner(certificate: Certificate, data: Data) -> tuple[Certificate, Data]:
    """Return certificate and data as the checkers of our own families expect them."""
    if "audit.inner" not in data.memo:
        rows = _transformed(certificate, data)
        problem, X = certificate.problem, rows.X
        model = {name: _floats(value) for name, value in attributes_of(certificate).items()}
        if problem.get("single_precision"):  # trees of scikit-learn look at their rows in float32
            X = X.astype(np.float32)
        if problem.get("family") == "penalised_squares":  # one target, whose intercept some models keep in a list
            model["intercept_"] = np.reshape(model["intercept_"], ())
        scaling = problem.get("intercept_scaling")
        if scaling is not None:
            X = with_column(X, scaling)
            model = augmented(model, scaling)
            problem = {**problem, "fit_intercept": False}
        read_as = replace(certificate, problem=problem, model=model, claims=(), seal="")
        own = Data(X, data.y, data.weights, {}, None)
        data.memo["audit.inner"] = (read_as, _indicated(read_as, own) if problem.get("indicators") else own)
    return data.memo["audit.inner"]


def _indicated(read_as: Certificate, rows: Data) -> Data:
    """Return rows whose targets are 1 for their class and -1 for the others (one column for two classes), weighted by class."""
    codes, weights = class_codes(read_as, rows), np.asarray(read_as.problem["class_weights"])
    K = len(weights)
    table = 2.0 * (codes[:, None] == np.arange(1 if K == 2 else 0, K)) - 1.0
    s = np.ones(len(codes)) if rows.weights is None else rows.weights
    return Data(rows.X, table, s * weights[codes], {}, None)


def at_reference(certificate: Certificate, data: Data) -> tuple[Certificate, Data]:
    """Return the same with the coefficients of the reference solution, if the certificate carries one."""
    read_as, rows = inner(certificate, data)
    witness = certificate.claims[0].witness if certificate.claims else {}
    if "coef" not in witness:
        return read_as, rows
    if "audit.reference" not in data.memo:
        model = {**read_as.model, "coef_": witness["coef"], "intercept_": witness["intercept"]}
        duals = {name: value for name, value in witness.items() if name.startswith("dual_")}
        widths = [float(width) for width in witness["widths"]] if "widths" in witness else None
        claim = replace(certificate.claims[0], name="linear.gap", witness=duals)
        problem = {**read_as.problem, **({"widths": widths} if widths else {})}
        other = replace(read_as, model=model, problem=problem, claims=(claim,), seal="")
        shared = {key: found for key, found in rows.memo.items() if key[0] == FACTORS}  # of the same rows
        data.memo["audit.reference"] = (other, Data(rows.X, rows.y, rows.weights, shared, None))
    return data.memo["audit.reference"]


def attributes_of(certificate: Certificate) -> dict[str, np.ndarray]:
    """Return what the claims speak of; where it is not kept by attribute name, it is compared with the model here."""
    problem = certificate.problem
    if problem.get("pipeline") is None and problem.get("derived") is None:
        return certificate.model
    inside = {
        name.removeprefix(INSIDE): value
        for name, value in certificate.claims[0].witness.items()
        if name.startswith(INSIDE)
    }
    last = certificate.subject if problem.get("pipeline") is None else _pipeline(certificate).steps[-1][1]
    if last is None:
        return inside
    current = DERIVED[problem["derived"]](last) if problem.get("derived") else {n: getattr(last, n) for n in inside}
    for name, value in inside.items():
        if not np.array_equal(np.asarray(current[name]), value):
            raise Invalidated(f"{certificate.estimator}: {name} was changed after it was certified.")
    return inside


def derived(name: str) -> Callable[[Derive], Derive]:
    """Register the function that reads arrays off models which do not keep them as such."""

    def add(function: Derive) -> Derive:
        DERIVED[name] = function
        return function

    return add


def _pipeline(certificate: Certificate) -> Any:
    if certificate.subject is None:
        raise CertificateError(
            f"{certificate.estimator}: the steps before the last transform the data; pass the pipeline to verify as 'model'."
        )
    return certificate.subject


def _transformed(certificate: Certificate, data: Data) -> Data:
    if certificate.problem.get("pipeline") is None:
        return data
    steps = [step for _, step in _pipeline(certificate).steps[:-1]]
    return read(transformed(steps, data.given), data.y, data.weights)


def transformed(steps: list, X):
    """Return what the steps of a pipeline make of the rows."""
    for step in steps:
        X = X if step is None or step == "passthrough" else step.transform(X)
    return X


def _floats(value: np.ndarray) -> np.ndarray:
    return value.astype(np.float64) if value.dtype.kind == "f" else value


def with_column(X, value: float):
    """Append a constant column."""
    column = np.full((X.shape[0], 1), float(value))
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(column)], format="csr")
    return np.hstack([np.asarray(X, dtype=np.float64), column])


def augmented(model: dict, scaling: float) -> dict:
    """Return the model with its intercept as one more coefficient."""
    coef, b = np.atleast_2d(model["coef_"]), np.atleast_1d(model["intercept_"]).astype(np.float64)
    W = np.hstack([coef, np.broadcast_to(b.reshape(-1, 1), (len(coef), 1)) / scaling])
    return {**model, "coef_": W, "intercept_": np.zeros(len(W))}


def scores_of(read_as: Certificate, rows: Data) -> np.ndarray:
    """Return the scores, one column a line of coefficients."""
    W = np.atleast_2d(read_as.model["coef_"])
    b = np.atleast_1d(read_as.model["intercept_"]).astype(np.float64)
    return np.asarray(rows.X @ W.T, dtype=np.float64).reshape(rows.X.shape[0], -1) + b


def objective_of(read_as: Certificate, rows: Data) -> float:
    """Return the objective at the coefficients, all targets or classes together."""
    problem, family, Z = read_as.problem, read_as.problem["family"], scores_of(read_as, rows)
    W = np.atleast_2d(read_as.model["coef_"])
    s = np.ones(len(Z)) if rows.weights is None else rows.weights
    if family in ("least_squares", "penalised_squares"):
        squares = math.fsum((s[:, None] * (rows.target.reshape(Z.shape) - Z) ** 2).ravel())
        if family == "penalised_squares":
            penalty = problem["alpha"] * math.fsum(np.abs(W).ravel()) + 0.5 * problem["beta"] * math.fsum(
                W.ravel() ** 2
            )
            return squares / (2 * math.fsum(s)) + penalty
        return squares + math.fsum((np.reshape(problem["alpha"], (-1, 1)) * W**2).ravel())
    penalty = problem["l1"] * math.fsum(np.abs(W).ravel()) + 0.5 * problem["l2"] * math.fsum(W.ravel() ** 2)
    if family == "multinomial":
        codes = class_codes(read_as, rows)
        c = s * np.asarray(problem["class_weights"])[codes] * problem["C"]
        return penalty - math.fsum(c * log_softmax(Z)[np.arange(len(Z)), codes])
    losses = [
        math.fsum(column.weights * values(problem, column.y, Z[:, k]))
        for k, column in enumerate(columns_of(read_as, rows))
    ]
    return penalty + math.fsum(losses)
