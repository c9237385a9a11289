r"""Checks what the training rows themselves say about new rows: out-of-bag votes, left-out rows, few support vectors.

A vote of mean class shares that errs gives the right class one half at most, so the risk of the vote is at most twice the mean of
:math:`1 - p_y` over the trees; each tree is tested on the rows that were not drawn for it. For two classes and a kernel fixed
beforehand the support vectors of the exact optimum are a stable compression; rows that a reference of gap g does not prove to lie
beyond the margin count as support vectors (theory: ``audit-risk``).
"""

from __future__ import annotations

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from scipy import linalg

from surefit import kernels
from surefit.checks.audited_boosting import FIELDS, route
from surefit.checks.audited_models import inner
from surefit.checks.audited_svm import excess_of, offsets, reach_of, solved
from surefit.checks.base import Data, Finding, checker
from surefit.checks.bounds import CONFIRM, spent
from surefit.checks.gaussian_process import _stated as read_process
from surefit.checks.kernel_values import kernel_of
from surefit.checks.linear_scores import class_codes
from surefit.checks.risk_rows import row_keys
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

ROUNDING = 1e-9
UNSEEN = 1e-13  # share of the largest term that rounding may leave in a residual
BOUNDED = (kernels.RBF, kernels.Laplacian)  # k(x, x) = 1 for every row to come


class LeftOut(NamedTuple):
    """What trees say of the rows that were not drawn for them."""

    error: float  # of the mean of those trees: share of wrong labels, or mean squared error
    rows: int  # left out by some tree
    member_loss: float  # mean over trees of the mean of 1 - p_y; nan for regression
    fewest: int  # rows that the tree with the fewest left out


@checker("audit.forest.out_of_bag")
def check_out_of_bag(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The error of trees on rows they did not draw is value."""
    found = left_out(certificate, data)
    ok = abs(found.error - claim.value) <= ROUNDING * (1 + abs(found.error))
    message = f"{found.rows} rows were left out by some tree."
    return Finding(claim.name, claim.value, found.error, ok, "recomputed", message)


@checker("audit.forest.vote")
def check_vote(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """With the stated confidence the forest errs on new rows with probability at most value."""
    found, z = left_out(certificate, data), claim.numbers
    same = abs(found.member_loss - z["empirical"]) <= ROUNDING and found.fewest == z["n"] and z["divergence"] == 0
    follows = claim.value >= 1 or CONFIRM["vote_first_order"](claim.value, z, {}).ok
    plain = data.weights is None and certificate.problem["class_weights"] is None
    ok = bool(same and follows and _stated(claim) and plain and not hidden_copies(claim.assumptions, data))
    message = f"mean loss {found.member_loss:.4g} on at least {found.fewest} rows a tree; the limit follows, if the assumptions hold."
    return Finding(claim.name, claim.value, claim.value if ok else math.inf, ok, "recomputed", message)


def left_out(certificate: Certificate, data: Data) -> LeftOut:
    """Send every tree the rows that were not drawn for it."""
    if "audit.left_out" not in data.memo:
        read_as, rows = inner(certificate, data)
        data.memo["audit.left_out"] = _left_out(read_as, rows)
    return data.memo["audit.left_out"]


def _left_out(read_as: Certificate, rows: Data) -> LeftOut:
    model, classes = read_as.model, read_as.problem["classes"]
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X)
    y = np.asarray(rows.target, dtype=np.float64) if classes is None else class_codes(read_as, rows)
    sums, heard = np.zeros((len(X), model["tree_value_"].shape[1])), np.zeros(len(X), dtype=np.int64)
    losses, fewest = [], len(X)
    for drawn, (a, b) in zip(model["drawn_"], pairwise(model["tree_starts_"]), strict=True):
        out = np.ones(len(X), dtype=bool)
        out[drawn] = False
        fewest = min(fewest, int(out.sum()))
        tree = {name: model[f"tree_{name}_"][a:b] for name in FIELDS}
        said = tree["value"][route(tree, X[out], strict=False)]
        sums[out] += said
        heard += out
        if classes is not None and out.any():
            losses.append(float(np.mean(1.0 - said[np.arange(len(said)), y[out]])))
    known = heard > 0
    means = sums[known] / heard[known, None]
    wrong = (means[:, 0] - y[known]) ** 2 if classes is None else means.argmax(axis=1) != y[known]
    error = float(np.mean(wrong)) if known.any() else math.nan
    return LeftOut(error, int(known.sum()), float(np.mean(losses)) if losses else math.nan, fewest)


@checker("audit.svm_compression")
def check_compression(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No more rows than stated can be support vectors of the exact optimum, and the bound follows from their number."""
    z, (size, moved) = claim.numbers, support_of_optimum(certificate, data)
    follows = claim.value >= 1 or CONFIRM["stable_compression"](claim.value, z, {}).ok
    near = not z["of_this_model"] or moved < 1
    ok = bool(
        size <= z["size"]
        and z["n"] == data.X.shape[0]
        and follows
        and near
        and _stated(claim)
        and data.weights is None
        and not hidden_copies(claim.assumptions, data)
    )
    message = (
        f"at most {size} rows are support vectors of the exact optimum; the limit follows, if the assumptions hold."
    )
    return Finding(claim.name, claim.value, claim.value if ok else math.inf, ok, "recomputed", message)


def support_of_optimum(certificate: Certificate, data: Data) -> tuple[int, float]:
    """Bound how many rows can be support vectors of the exact optimum, and by how much its scores differ from the model's anywhere."""
    own, best = solved(certificate, data, False), solved(certificate, data, True)
    m, reach = best.machines[0], reach_of(certificate, data)[0]
    f = best.scores[m.rows, 0]
    low, high = offsets(m, f, reach[m.rows])
    margins = np.where(m.y > 0, f - reach[m.rows] + low, -(f + reach[m.rows] + high))
    away = math.sqrt(2 * max(excess_of(certificate, data)[1], 0.0)) * (1 + ROUNDING)  # strong convexity of |f|^2 / 2
    b = own.machines[0].b
    moved = away + max(abs(b - low), abs(high - b))
    bounded = isinstance(kernel_of(inner(certificate, data)[0]), BOUNDED)
    return int(np.sum(~(margins > 1 + ROUNDING))), moved if bounded else math.inf


@checker("audit.leave_one_out")
def check_leave_one_out(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean squared error of rows that are left out one at a time is value."""
    found, (read_as, rows) = leave_one_out(certificate, data), inner(certificate, data)
    largest = float(np.max(abs(rows.X) @ np.abs(np.atleast_2d(read_as.model["coef_"])).T, initial=0.0))
    ok = _same_error(found, claim.value, largest + float(np.max(np.abs(rows.target), initial=0.0)))
    return Finding(claim.name, claim.value, found, ok, "recomputed", "leverages recomputed from a factor.")


def leave_one_out(certificate: Certificate, data: Data) -> float:
    r"""Mean of :math:`(r_i / (1 - h_i))^2` at the exact optimum of penalised least squares, the intercept free."""
    read_as, rows = inner(certificate, data)
    X = np.asarray(rows.X.toarray() if hasattr(rows.X, "toarray") else rows.X, dtype=np.float64)
    Y = np.asarray(rows.target, dtype=np.float64).reshape(len(X), -1)
    alphas, free = read_as.problem["alpha"], read_as.problem["fit_intercept"]
    A = X - X.mean(axis=0) if free else X
    U, d, _ = np.linalg.svd(A, full_matrices=False)
    B = Y - Y.mean(axis=0) if free else Y
    total = 0.0
    for k, alpha in enumerate(alphas):
        keep = d > len(X) * np.finfo(float).eps * d[:1] if alpha == 0 else d > 0
        shares = d[keep] ** 2 / (d[keep] ** 2 + alpha)
        leverage = np.einsum("ij,j,ij->i", U[:, keep], shares, U[:, keep]) + (1 / len(X) if free else 0.0)
        residual = B[:, k] - (U[:, keep] * shares) @ (U[:, keep].T @ B[:, k])
        if np.any(leverage > 1 - ROUNDING):
            return math.inf  # some row alone decides its own prediction
        total += float(np.mean((residual / (1 - leverage)) ** 2))
    return total / len(alphas)


@checker("audit.gaussian_process.leave_one_out")
def check_process_leave_one_out(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean squared error of the posterior mean at rows left out one at a time is value, kernel and scaling kept."""
    found = process_leave_one_out(certificate, data)
    ok = _same_error(found, claim.value, float(np.max(np.abs(data.target), initial=0.0)))
    return Finding(claim.name, claim.value, found, ok, "recomputed", "errors recomputed from an inverse.")


def process_leave_one_out(certificate: Certificate, data: Data) -> float:
    r"""Mean of :math:`(a_i / (A^{-1})_{ii})^2` with :math:`A = K + D` and :math:`a = A^{-1} y`, in the units of the target."""
    read_as, rows = inner(certificate, data)
    kernel, noise, _, targets, scale = read_process(read_as, rows)
    A = kernel(rows.X)
    A.flat[:: len(A) + 1] += noise
    inverse = linalg.inv(A)
    errors = inverse @ targets / np.diag(inverse)[:, None] * scale
    return float(np.mean(errors**2))


def hidden_copies(assumptions: tuple[str, ...], data: Data) -> bool:
    """Whether some rows are equal and nobody vouched that they are separate draws: a left-out row may then have been trained on."""
    if "equal_rows_are_draws" in assumptions:
        return False
    keys = row_keys(data.X, data.y)
    return len(set(keys)) < len(keys)


def _same_error(found: float, claimed: float, size: float) -> bool:
    """Whether two mean squares agree, up to the digits that terms of this size leave to their differences."""
    return bool(abs(math.sqrt(found) - math.sqrt(max(claimed, 0.0))) <= 1e-6 * math.sqrt(found) + UNSEEN * size)


def _stated(claim: Claim) -> bool:
    z = claim.numbers
    return claim.confidence == 1.0 - z["delta"] and 0 < spent(z) <= z["delta"] < 1
