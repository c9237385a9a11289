"""Claims about a perceptron in feature space."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from surefit.core.claims import Claim
from surefit.perceptrons.claims import risk_claim
from surefit.perceptrons.novikoff import general_bound
from surefit.perceptrons.online import about_problem
from surefit.perceptrons.problem import Labelled
from surefit.solvers.perceptron_walk import SEPARATED

UNIT, SURE = 2.0**-53, 1 + 2.0**-40
DELTA = 0.05
KERNEL_ERROR = 1e-12  # relative to the feature-space radius: what two ways of computing a kernel may differ by


def kernel_risk(estimator, walks: list, orders, data: Labelled, fixed_radius: bool) -> list[Claim]:
    """Return the risk bound of the first pass, if nothing about the run was chosen by looking at later rows.

    ``fixed_radius``: the feature-space radius is a constant of the kernel.
    """
    named = isinstance(estimator.kernel, str)
    foresight = (
        orders.kind == "random"
        or (named and estimator.kernel in ("rbf", "poly", "laplacian") and estimator.gamma == "scale")
        or (estimator.fit_intercept and estimator.bias == "r_squared" and not fixed_radius)
        or estimator.mistake != "<=0"
        or estimator.threshold > 0
    )
    n = len(data.codes)
    if foresight or any(one.visits < n or one.dropped or one.logged < one.updates for one in walks):
        return []
    # With several problems a row is surely classified right if none of them was mistaken about it.
    mistaken = np.unique(np.concatenate([one.log.row[: one.after_pass[0]] for one in walks]))
    trivial = 1 - np.bincount(data.codes).max() / n
    claim = risk_claim(len(mistaken), n, DELTA, orders.first, trivial, () if named else ("kernel_fixed",))
    return [replace(claim, name="perceptron.kernel_risk")]


def kernel_claims(walk, data: Labelled, p: int, given: bool = False, proper: bool = True) -> list[Claim]:
    """Claims about one two-class problem. A budget that dropped rows leaves none but the absence of one.

    ``given``: the kernel is the user's own, and that it is positive semidefinite is an assumption. Not ``proper``: it is not.
    """
    about, numbers = about_problem(data, p), {"problem": p}
    assumptions = ("positive_semidefinite_kernel",) if given else ()
    if walk.dropped or walk.logged < walk.updates or not proper:
        reason = f"the budget dropped {walk.dropped} rows" if walk.dropped else "the log is not complete"
        reason = reason if proper else "the matrix is no kernel"
        text = f"Nothing is claimed about the run: {reason}."
        return [Claim("perceptron.unfinished", "no_claim", text, about=about, numbers=numbers)]
    rule, k = walk.rule, walk.updates
    radius = math.sqrt(rule.radius_square)
    claims = []
    square = float(walk.sums.square[0])
    steps = np.where(walk.t[walk.log.row[:k]] > 0, rule.step_plus, rule.step_minus)
    total = float(steps.sum())
    # The norm comes from a long sum: its own error, relative to what the theorem grants, is added to the safe side.
    error = (8 * UNIT * (k + 8) + KERNEL_ERROR) * walk.largest_norm() ** 2
    up = math.sqrt(max(square, 0.0) + error) / total * SURE if k else math.inf
    if walk.ending == SEPARATED and square > 0:
        slack = (8 * UNIT * (k + 8) + KERNEL_ERROR) * total * rule.radius_square
        low = (float(np.min(walk.t * (walk.scores + walk.offset))) - slack) / math.sqrt(square + error)
        text = f"In feature space the largest margin of any direction lies between {low:.6g} and {up:.6g}."
        claims.append(
            Claim(
                "perceptron.kernel_margin",
                "data_fact",
                text,
                low,
                up,
                about=about,
                assumptions=assumptions,
                numbers={**numbers, "radius": radius},
            )
        )
        if low > 0:
            bound = general_bound(
                rule.radius_square * SURE,
                low,
                least_step=min(rule.step_minus, rule.step_plus),
                largest_step=max(rule.step_minus, rule.step_plus),
                threshold=max(rule.cut_plus, 0.0),
            )
            text = (
                f"{k} updates were made; a feature-space radius of {radius:.6g} and margin {low:.6g} allow {bound:.6g}."
            )
            more = {**numbers, "radius": radius, "gamma_low": low, "gamma_up": up}
            claims.append(
                Claim(
                    "perceptron.kernel_novikoff",
                    "process_fact",
                    text,
                    float(k),
                    bound,
                    about=about,
                    assumptions=assumptions,
                    numbers=more,
                )
            )
    claims.append(
        Claim(
            "perceptron.kernel_replay",
            "process_fact",
            f"Each of the {k} updates was made on a mistake, and together they are the dual coefficients.",
            value=0.0,
            limit=0.0,
            about=about,
            numbers={**numbers, "updates": k},
            witness={"rows": walk.log.row[:k].copy(), "after_pass": np.array(walk.after_pass)},
        )
    )
    if k:
        text = "After every update the squared norm in feature space exceeds what the theorem grants by at most zero."
        claims.append(Claim("perceptron.kernel_growth", "process_fact", text, 0.0, 0.0, about=about, numbers=numbers))
    if walk.ending != SEPARATED:
        text = f"No pass was clean ({walk.ending}): nothing is claimed about the number of updates to come."
        claims.append(Claim("perceptron.unfinished", "no_claim", text, about=about, numbers=numbers))
    return claims
