"""Checks of models in a kernel's space by the gap theorem with the Gram matrix as the operator."""

from __future__ import annotations

import numpy as np

from surefit.checks.enclosure import UNIT, Enclosed
from surefit.checks.gap import Dual, Free, Gap, Point, loss_of, prove_kernel
from surefit.checks.judge import AtMost, Proof, claim
from surefit.checks.kernels.model import require_rows
from surefit.checks.kernels.null_space import free_coefficients, free_columns, free_part, free_values
from surefit.checks.kernels.operator import Gram
from surefit.checks.kernels.values import kernel_of, level_of
from surefit.checks.linear.columns import Columns, null_objective, targets_of
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


@claim(
    "kernel_model.gap",
    kind="optimality",
    side="upper",
    infinite=True,
    theory="fenchel-gap",
    assumptions=("the kernel is positive semidefinite",),
    says="The objective {objective:.6g} is within {value:.3g} of the smallest possible one in the kernel's space.",
)
def gap(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Bound P - min P over all functions of the kernel's space and all free functions, over all classes."""
    kernel = kernel_of(certificate)
    columns, found = _proved(certificate, stated, data)
    value, spread = sum(g.value for g in found), sum(g.spread for g in found)
    null, off, floor = null_objective(columns)
    tol = float(certificate.problem["tol"])
    return Proof(
        value * (1 + len(found) * UNIT),
        level_of(kernel),
        note=f"P - min P <= {value:.3g} by a dual point.",
        numbers={"objective": AtMost(sum(g.objective for g in found), sum(g.objective_spread for g in found))},
        limit=tol * null + floor,
        spread=spread,
        limit_spread=min(tol * off + 1e-6 * floor, 0.2 * (tol * null + floor)),
    )


def _proved(certificate: Certificate, stated: Claim, data: Data) -> tuple[Columns, list[Gap]]:
    problem, n = certificate.problem, data.X.shape[0]
    loss, strength = loss_of(problem), float(problem["penalty"]["l2"])
    targets, weights = targets_of(certificate, data)
    require_rows(certificate, data, "X_fit_")
    B = np.asarray(certificate.model["dual_coef_"], dtype=np.float64).reshape(-1, n)
    b = free_coefficients(certificate, len(targets), by_target=True)
    if len(B) != len(targets) or not (np.all(np.isfinite(B)) and np.all(np.isfinite(b))):
        raise ValueError("dual_coef_ must have one finite number per row and class, and so the free functions")
    operator, constant = Gram.of(certificate, data), bool(problem["fit_intercept"])
    c, parts = weights * problem["strength"], _free_parts(certificate, data, b)
    offsets = b[0] if constant and parts[0] is None else np.zeros(len(B))
    points = [Point(t, c, beta, float(o), constant) for t, beta, o in zip(targets, B, offsets, strict=True)]
    duals = [Dual(stated.witness.get(f"dual_{k}")) for k in range(len(points))]
    proved = [prove_kernel(operator, loss, strength, *each) for each in zip(points, duals, parts, strict=True)]
    return Columns(operator, loss, [], points, duals), proved


def _free_parts(certificate: Certificate, data: Data, b: np.ndarray) -> list[Free | None]:
    """Return the free functions of each problem; None if there is at most a constant."""
    if certificate.problem["null_space"] is None:
        if len(b) != int(certificate.problem["fit_intercept"]):
            raise ValueError("null_coef_ must be empty without a null space")
        return [None] * b.shape[1]
    T = free_values(certificate, data)
    if len(b) != T.mid.shape[1] or not np.all(np.isfinite(T.mid)):
        raise ValueError("the null space must have finite values, and one coefficient per function")
    columns, values = free_columns(certificate, T), free_part(T, b)
    return [Free(columns, b[:, k], Enclosed(values.mid[:, k], values.rad[:, k])) for k in range(b.shape[1])]
