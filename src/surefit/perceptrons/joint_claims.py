r"""Claims about the multi-class perceptron: the two-class theorem on the rows :math:`(0, .., x, .., -x, .., 0)`.

A direction :math:`U` with one vector a class has margin :math:`\min_i \min_{r \ne y_i} (u_{y_i} - u_r)^\top \hat x_i / \|U\|_F`;
an update has squared length :math:`2 \|\hat x\|^2`, so the bound from zero is :math:`2 R^2 / \gamma^2`.
"""

from __future__ import annotations

import math

import numpy as np

from surefit.core.claims import Claim
from surefit.perceptrons.novikoff import general_bound
from surefit.perceptrons.problem import Labelled
from surefit.solvers.perceptron_walk import SEPARATED

UNIT = 2.0**-53
SURE = 1 + 2.0**-40


def joint_claims(walk, data: Labelled, start: np.ndarray, aside: bool) -> list[Claim]:
    """Claims about a finished joint walk; ``start`` has one line a class, the offset last."""
    k = walk.logged
    witness = {"rows": walk.log.row[:k].copy(), "rivals": walk.rivals[:k].copy(), "start": start}
    claims = []
    if walk.ending == SEPARATED and not aside and k == walk.updates:
        claims += _bracket(walk, data, start)
    if k == walk.updates:
        claims.append(
            Claim(
                "perceptron.joint_replay",
                "process_fact",
                f"Each of the {k} updates was made on a mistake, and together they give the weights.",
                value=0.0,
                limit=0.0,
                numbers={"updates": k},
                witness=witness,
            )
        )
        if k:
            claims.append(
                Claim(
                    "perceptron.joint_growth",
                    "process_fact",
                    "After every update the squared norm of all weights exceeds what the theorem grants by at most zero.",
                    value=0.0,
                    limit=0.0,
                )
            )
    if walk.ending != SEPARATED:
        text = f"No pass was clean ({walk.ending}): nothing is claimed about the number of updates to come."
        claims.append(Claim("perceptron.unfinished", "no_claim", text))
    return claims


def _bracket(walk, data: Labelled, start: np.ndarray) -> list[Claim]:
    beta = walk.rule.bias_step
    W, b = walk.weights
    norm = _norm(W, b, beta)
    if norm == 0.0:
        return [Claim("perceptron.zero", "no_claim", "The weights are zero: no update was needed, no margin exists.")]
    scores = np.asarray(data.X @ W.T) + b
    own = scores[np.arange(len(data.codes)), data.codes]
    scores[np.arange(len(data.codes)), data.codes] = -np.inf
    low = float(np.min(own - scores.max(axis=1))) / norm
    low -= 8 * (W.shape[1] + 6) * UNIT * math.sqrt(walk.rule.radius_square)
    total = math.fsum(walk.steps[data.codes] * walk.counts)
    rounding = 4 * UNIT * walk.updates * walk.largest_norm()
    moved = _norm(W - start[:, :-1], b - start[:, -1], beta)
    up = (moved + rounding) / total * SURE if total else math.inf
    start_square = _norm(start[:, :-1], start[:, -1], beta) ** 2
    along = (float(np.sum(start[:, :-1] * W)) + (float(start[:, -1] @ b) / beta if beta else 0.0)) / norm
    bound = general_bound(
        2 * walk.rule.radius_square * SURE,
        low,
        start_square,
        along,
        least_step=float(walk.steps.min()),
        largest_step=float(walk.steps.max()),
    )
    claims = [
        Claim(
            "perceptron.joint_margin",
            "data_fact",
            f"The classes are separable by one direction each: their largest margin lies between {low:.6g} and {up:.6g}.",
            value=low,
            limit=up,
        )
    ]
    if low > 0:
        claims.append(
            Claim(
                "perceptron.joint_novikoff",
                "process_fact",
                f"{walk.updates} updates were made; the theorem allows {bound:.6g} at margin {low:.6g}.",
                value=float(walk.updates),
                limit=bound,
                numbers={"radius": math.sqrt(walk.rule.radius_square), "gamma_low": low, "gamma_up": up},
            )
        )
    return claims


def _norm(W: np.ndarray, b: np.ndarray, beta: float) -> float:
    return math.sqrt(float(np.sum(W * W)) + (float(b @ b) / beta if beta else 0.0))
