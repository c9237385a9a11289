r"""Checks AdaBoost by repeating its weights: the product identity, half weights, margins, and the stumps of every round.

The members' votes on the training rows come from the stumps themselves, evaluated here, or, for other learners, from the
table of votes that is part of the evidence. With :math:`\ell_i = \sum_m \alpha_m \mathbf 1\{h_m(x_i) \ne y_i\}` and
:math:`A = \sum_m \alpha_m` the mean of :math:`e^{\ell_i - A/2}` is compared with :math:`\prod_m Z_m` (theory: ``adaboost-product``).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from surefit.checks.base import Data, Finding, checker
from surefit.checks.stump import codes_of, largest_edge, least_error, resolution, sort_columns
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError

ROUNDING = 1e-9  # relative: products of a few hundred factors, in two orders


class Replay(NamedTuple):
    """A run of AdaBoost, repeated from its votes."""

    errors: np.ndarray  # weighted error of each member under its weights
    half: np.ndarray  # and under the weights that follow
    product: float
    mean_loss: float
    training_error: float
    smallest_margin: float
    stump_gap: float  # largest lead of the best stump over the chosen one, in weighted error
    least_edge: float  # smallest of the rounds' largest edges


@checker("adaboost.product")
def check_product(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The mean exponential loss and the product of the normalisers are value."""
    run = _replay(certificate, data)
    worst = max(run.product, run.mean_loss)
    ok = all(abs(x - claim.value) <= ROUNDING * claim.value for x in (run.product, run.mean_loss))
    message = f"mean exponential loss {run.mean_loss:.9g}, product of {len(run.errors)} factors {run.product:.9g}."
    return Finding(claim.name, claim.value, worst, ok, "recomputed", message)


@checker("adaboost.training_error")
def check_training_error(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The training error, ties counted as errors, is value and at most the product."""
    run = _replay(certificate, data)
    close = abs(run.training_error - claim.value) <= resolution(len(data.target))
    ok = close and run.training_error <= run.product * (1 + ROUNDING)
    message = f"training error {run.training_error:.6g}, below the product {run.product:.6g}."
    return Finding(claim.name, claim.value, run.training_error, ok, "recomputed", message)


@checker("adaboost.edges")
def check_edges(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The product is at most value, the exponential of minus twice the sum of the squared edges."""
    run = _replay(certificate, data)
    bound = math.exp(-2 * math.fsum((0.5 - run.errors) ** 2))
    ok = abs(bound - claim.value) <= ROUNDING * claim.value and run.product <= bound * (1 + ROUNDING)
    message = f"product {run.product:.6g} <= exp(-2 sum of squares) = {bound:.6g}."
    return Finding(claim.name, claim.value, bound, ok, "recomputed", message)


@checker("adaboost.half_weight")
def check_half_weight(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """Under the weights that follow it, every member errs with weight one half, up to value."""
    off = float(np.max(np.abs(_replay(certificate, data).half - 0.5), initial=0.0))
    return Finding(claim.name, claim.value, off, off <= claim.value, "recomputed", f"off by at most {off:.2g}.")


@checker("adaboost.stumps")
def check_stumps(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No stump has a weighted error smaller than that of the chosen one, in any round, by more than value."""
    run = _replay(certificate, data)
    message = f"all stumps were tried in each of {len(run.errors)} rounds."
    return Finding(claim.name, claim.value, run.stump_gap, run.stump_gap <= claim.value, "recomputed", message)


@checker("adaboost.margin")
def check_margin(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """No vote of stumps has a smallest margin larger than this one's by more than value."""
    run = _replay(certificate, data)
    gap = run.least_edge - run.smallest_margin
    message = (
        f"smallest margin {run.smallest_margin:.6g}; weights of a round prove that none exceeds {run.least_edge:.6g}."
    )
    return Finding(
        claim.name, claim.value, gap, gap <= claim.value + resolution(len(data.target)), "recomputed", message
    )


def _replay(certificate: Certificate, data: Data) -> Replay:
    if "adaboost" not in data.memo:
        data.memo["adaboost"] = _repeat(certificate, data)
    return data.memo["adaboost"]


def _repeat(certificate: Certificate, data: Data) -> Replay:
    model = certificate.model
    codes = codes_of(model["classes_"], data.target)
    n, n_classes, alphas = len(codes), len(model["classes_"]), model["estimator_weights_"]
    shares = np.full(n, 1.0 / n) if data.weights is None else data.weights / math.fsum(data.weights)
    stumps = "stump_features_" in model
    counted = shares > 0
    columns = sort_columns(data.X[counted]) if stumps else []
    signs = np.where(codes == 1, 1.0, -1.0)
    D, votes = shares.copy(), np.zeros((n, n_classes))
    errors, half, product, gap, least = [], [], 1.0, 0.0, math.inf
    for m, alpha in enumerate(alphas):
        said = _said(certificate, data, m, n)
        wrong = said != codes
        error = math.fsum(D[wrong])
        if stumps and n_classes == 2:
            edge = largest_edge(columns, (signs * D)[counted])
            gap, least = max(gap, error - (1 - edge) / 2), min(least, edge)
        elif stumps:
            gap = max(gap, error - least_error(columns, codes[counted], D[counted], n_classes))
        Z = error * math.exp(alpha / 2) + (1 - error) * math.exp(-alpha / 2)
        D = D * np.exp(alpha * (wrong - 0.5)) / Z
        votes[np.arange(n), said] += alpha
        errors.append(error)
        half.append(math.fsum(D[wrong]))
        product *= Z
    own = votes[np.arange(n), codes]
    votes[np.arange(n), codes] = -np.inf
    rivals = np.max(votes, axis=1) if n_classes > 1 else np.zeros(n)
    total = math.fsum(alphas)
    mean_loss = math.fsum(shares * np.exp((total - own) - total / 2))
    margins = (own - rivals) / total
    return Replay(
        np.array(errors),
        np.array(half),
        product,
        mean_loss,
        math.fsum(shares[own <= rivals]),
        float(np.min(margins[counted])),
        gap,
        least,
    )


def _said(certificate: Certificate, data: Data, m: int, n: int) -> np.ndarray:
    """Codes that member ``m`` gives to the training rows."""
    model = certificate.model
    if "stump_features_" in model:
        left, right = model["stump_labels_"][m]
        column = data.X[:, int(model["stump_features_"][m])]
        return np.where(column <= model["stump_thresholds_"][m], int(left), int(right))
    witness = certificate["adaboost.product"].witness
    if "votes" not in witness:
        raise CertificateError("The votes of the members are not part of this certificate.")
    table = witness["votes"][m]
    said = np.unpackbits(table, count=n) if certificate.problem["packed"] else table
    return said.astype(np.int64)
