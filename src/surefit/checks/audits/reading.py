r"""Conversion of another library's model to a problem of surefit: data, coefficients and conventions.

A penalized intercept is converted to the coefficient of an additional constant column, and the rows are transformed by
the preceding steps of a pipeline. The checkers of surefit's own families can then check the model.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.judge import shared
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, Invalidated
from surefit.core.sample import Data, read
from surefit.problems.external.registry import DERIVED

#: Prefix in witnesses for attributes that are not attributes of the certified object itself.
INSIDE = "model."


@shared
def inner(certificate: Certificate, data: Data) -> tuple[Certificate, Data]:
    """Return certificate and data in the form that the checkers of surefit's own families expect."""
    rows = _transformed(certificate, data)
    problem, X = certificate.problem, rows.X
    model = {name: _floats(value) for name, value in attributes_of(certificate).items()}
    if problem.get("single_precision"):  # scikit-learn's trees convert rows to float32
        X = X.astype(np.float32)
    scaling = problem.get("intercept_scaling")
    if scaling is not None:
        X = with_column(X, scaling)
        model = augmented(model, scaling)
        problem = {**problem, "fit_intercept": False}
    read_as = replace(certificate, problem=problem, model=model, claims=(), seal="")
    return read_as, Data(X, data.y, data.weights, {}, None)


@shared
def at_reference(certificate: Certificate, data: Data) -> tuple[Certificate, Data]:
    """Return certificate and data with the coefficients of the reference solution, if the certificate contains one."""
    read_as, rows = inner(certificate, data)
    witness = certificate.claims[0].witness if certificate.claims else {}
    if "coef" not in witness:
        return read_as, rows
    at = {f"{name}_": witness[name] for name in ("coef", "intercept", "scale") if name in witness}
    duals = {name: value for name, value in witness.items() if name.startswith(("dual_", "widths"))}
    claims = (Claim("linear.gap", witness=duals),)
    other = replace(read_as, model={**read_as.model, **at}, claims=claims, seal="")
    return other, Data(rows.X, rows.y, rows.weights, {}, None)


def attributes_of(certificate: Certificate) -> dict[str, np.ndarray]:
    """Return the attributes that the claims refer to; those stored in the witness are compared with the model."""
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


def transformed(steps: list[Any], X: Any) -> Any:
    """Return the rows transformed by the steps of a pipeline."""
    for step in steps:
        X = X if step is None or step == "passthrough" else step.transform(X)
    return X


def _floats(value: np.ndarray) -> np.ndarray:
    return value.astype(np.float64) if value.dtype.kind == "f" else value


def with_column(X: Any, value: float) -> Any:
    """Return X with an additional constant column."""
    column = np.full((X.shape[0], 1), float(value))
    if sparse.issparse(X):
        return sparse.hstack([X, sparse.csr_array(column)], format="csr")
    return np.hstack([np.asarray(X, dtype=np.float64), column])


def augmented(model: dict[str, Any], scaling: float) -> dict[str, Any]:
    """Return the model with its intercept as an additional coefficient."""
    coef, b = np.atleast_2d(model["coef_"]), np.atleast_1d(model["intercept_"]).astype(np.float64)
    W = np.hstack([coef, np.broadcast_to(b.reshape(-1, 1), (len(coef), 1)) / scaling])
    return {**model, "coef_": W, "intercept_": np.zeros(len(W))}
