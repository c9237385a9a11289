"""Claims of networks: objective, gradient, links, and the gap of the last layer, which is a convex problem."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from surefit.checks.judge import AtLeast, AtMost, Proof, claim, no_claim, refused
from surefit.checks.networks.last_layer import output_layer_gap
from surefit.checks.networks.passes import examine, read_net, targets
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

VACUOUS = 0.999  # share of the objective above which a gap is vacuous
fact = partial(claim, side="upper", theory="network-stationarity")
no_claim("network.global", "Nothing is claimed about other minima: the problem is not convex.")


@fact("network.objective", kind="data_fact", says="The objective on all rows is between {low:.9g} and {value:.9g}.")
def objective(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that J is at most ``value`` and at least the stated lower bound."""
    found = examine(certificate, data)
    J, radius, note = found.objective, found.objective_radius, f"J = {found.objective:.9g} by a forward pass."
    return Proof(J + radius, "recomputed", note, {"low": AtLeast(J - radius, radius)}, spread=radius)


@fact("network.gradient", kind="stationarity",
      says="No partial derivative of the objective is larger than {value:.3g} (norm at most {norm:.3g}); this "
      "measures stationarity.")  # fmt: skip
def gradient(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no partial derivative of J exceeds ``value``, and bound the norm of the gradient."""
    found = examine(certificate, data)
    size, radius = np.abs(found.gradient), found.gradient_radius
    value, rounding = (float(np.max(part, initial=0.0)) for part in (size + radius, radius))
    norm = AtMost(float(np.linalg.norm(size + radius)), float(np.linalg.norm(radius)))
    note, tol = "gradient by a backward pass, rounding included.", certificate.problem.get("tol")
    return Proof(value, "recomputed", note, {"norm": norm}, tol, rounding)


def _layer_in_words(claim: Claim) -> str:
    if math.isinf(claim.value):
        return "The only lower bound for other last layers is zero, which is vacuous."
    return (
        f"With fixed hidden units, no other last layer has an objective smaller by more than {claim.value:.3g} "
        f"(of {claim.numbers['objective']:.3g})."
    )


@fact(
    "network.output_gap",
    kind="optimality",
    infinite=True,
    about="the last layer, given the hidden units",
    says=_layer_in_words,
)
def output_gap(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that, with fixed hidden features, no other last layer has an objective smaller by more than ``value``."""
    found, net, problem = examine(certificate, data), read_net(certificate, data), certificate.problem
    if problem["loss"] == "squared_error" and problem["output"] != "identity":
        return refused("squared error of softmax or logistic outputs is not convex")
    last, columns = (net.coefs[-1], net.intercepts[-1], net.tables[-1]), targets(certificate, data)
    layer = output_layer_gap(found.features, *last, *columns, problem["alpha"], problem["output"], problem["loss"])
    limit = None if problem.get("gap_tol") is None else problem["gap_tol"] * layer.objective
    rounding = layer.objective_rounding
    numbers = {"objective": AtMost(layer.objective + rounding, rounding)}
    if not layer.gap < VACUOUS * layer.objective:
        note = "the dual point proves nothing."
        return Proof(math.inf, "recomputed", note, numbers, limit, limit_spread=rounding)
    note = f"at most {layer.gap:.3g} of {layer.objective:.3g} can be gained."
    return Proof(layer.gap + layer.rounding, "recomputed", note, numbers, limit, layer.rounding, rounding)


@fact("network.links", kind="feasibility", side="exact",
      says="{links} links carry {parameters} free parameters: weights are zero where no link is and equal where they are shared, "
      "exactly.")  # fmt: skip
def links(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the weights that are nonzero without a link or differ from those that they are tied to."""
    net = read_net(certificate, data)
    wrong = count = free = 0
    for matrix, table in zip(net.coefs, net.tables, strict=True):
        linked = np.ones(matrix.shape, dtype=bool) if table is None else table >= 0
        own = np.arange(matrix.size).reshape(matrix.shape) if table is None else table
        _, first, number = np.unique(own[linked], return_index=True, return_inverse=True)
        wrong += int(np.count_nonzero(matrix[~linked]))
        wrong += int(np.count_nonzero(matrix[linked] != matrix[linked][first][number.ravel()]))
        count, free = count + int(linked.sum()), free + len(first)
    biases = sum(len(bias) for bias in net.intercepts)
    numbers = {"links": count + biases, "parameters": free + biases}
    return Proof(float(wrong), "exact", f"{wrong} weights off their link.", numbers, limit=0.0)
