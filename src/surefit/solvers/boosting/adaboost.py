r"""AdaBoost: weights, votes, and the product that bounds the training error.

Weights stay normalized: :math:`D_{m+1}(i) = D_m(i) e^{\alpha_m (\mathbf 1\{wrong\} - 1/2)} / Z_m`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.core.budget import Budget, Reason
from surefit.core.jit import compiled
from surefit.solvers.boosting.stumps import Stump, best_edge, best_stump, cut_after, sorted_columns

#: ``learn(D)`` returns a member fitted to the weights, and its predicted class indices for the training rows.
Learner = Callable[[np.ndarray], tuple[Any, np.ndarray]]
MOST_VOTE = 700.0  # log-odds of a member whose exponential is still a number


class Round(NamedTuple):
    """One boosting round: the member, its weighted error and vote, the normalizer, and the training error so far."""

    member: Any
    error: float
    alpha: float
    Z: float
    training_error: float


class Rounds(NamedTuple):
    """Result of AdaBoost."""

    log: list[Round]
    said: list[np.ndarray]  # predicted class indices of each member for the training rows
    reason: Reason
    worse_than_chance: bool  # the last learner was rejected
    votes: np.ndarray  # (rows, classes) sums of the votes


class StumpLearner:
    """Weak learner that returns the best stump; columns are sorted once."""

    def __init__(self, X: np.ndarray, codes: np.ndarray, n_classes: int, n_jobs: int | None = None):
        self.X = np.asfortranarray(X)
        self.codes, self.n_classes, self.n_jobs = codes, n_classes, n_jobs
        self.order = sorted_columns(self.X, n_jobs)
        self.signs = np.where(codes == 1, 1.0, -1.0)

    def __call__(self, D: np.ndarray) -> tuple[Stump, np.ndarray]:
        """Return the best stump for the row weights ``D``, and its predictions."""
        if self.n_classes == 2:
            j, k, positive = best_edge(self.order, self.signs * D, 1.0, self.n_jobs)
            left, right = (0, 1) if positive else (1, 0)
            stump = Stump(int(j), cut_after(self.X, self.order, j, k), left, right)
        else:
            stump = best_stump(self.X, self.order, self.codes, D, self.n_classes)
        return stump, _say(self.X[:, stump.feature], stump.threshold, stump.left, stump.right)


def boost(
    learn: Learner,
    codes: np.ndarray,
    shares: np.ndarray,
    n_classes: int,
    *,
    rate: float,
    extra: float,
    stop_bound: float,
    budget: Budget,
) -> Rounds:
    """Run AdaBoost until the budget is spent, a learner is perfect or no better than chance, or the bound is reached.

    ``extra`` is added to the log-odds of each member: zero for AdaBoost.M1, ln(K - 1) for SAMME.
    """
    D = shares.copy()
    votes = np.zeros((len(codes), n_classes))
    log: list[Round] = []
    told: list[np.ndarray] = []
    product = 1.0
    chance = 1 / (1 + math.exp(-extra)) if n_classes > 1 else 1.0  # the error at which the log-odds plus extra is zero
    while True:
        member, said = learn(D)
        error = lost_weight(D, said, codes)
        if error <= 0.0:  # infinite log-odds: this member alone classifies every row correctly, with any positive vote
            votes = (said[:, None] == np.arange(n_classes)).astype(np.float64)
            return Rounds([Round(member, 0.0, 1.0, math.exp(-0.5), 0.0)], [said], Reason.CONVERGED, False, votes)
        if error >= chance * (1 - 1e-14):
            return Rounds(log, told, Reason.STALLED, True, votes)
        alpha = rate * (math.log((1 - error) / error) + extra)
        if alpha > MOST_VOTE:
            raise OverflowError(f"the vote {alpha:.3g} of a member exceeds {MOST_VOTE:g}")
        up, down = math.exp(alpha / 2), math.exp(-alpha / 2)
        Z = error * up + (1 - error) * down
        training_error = _reweigh(D, said, codes, votes, up / Z, down / Z, alpha, shares)
        product *= Z
        log.append(Round(member, error, alpha, Z, training_error))
        told.append(said)
        if product < stop_bound:
            return Rounds(log, told, Reason.CONVERGED, False, votes)
        reason = budget.spent(len(log), product)
        if reason is not None:
            return Rounds(log, told, reason, False, votes)


@compiled
def _say(column, threshold, left, right):
    said = np.empty(len(column), dtype=np.int16)
    for i in range(len(column)):
        said[i] = left if column[i] <= threshold else right
    return said


@compiled
def lost_weight(D, said, codes):
    """Return the weight of the rows that ``said`` misclassifies."""
    lost = 0.0
    for i in range(len(codes)):  # without branches, because the misclassified rows are hard to predict
        lost += D[i] * (1.0 if said[i] != codes[i] else 0.0)
    return lost


@compiled
def _reweigh(D, said, codes, votes, up, down, alpha, shares):
    """Update weights and votes; return the weighted fraction of rows whose class does not have strictly the most votes."""
    failed = 0.0
    factors = (up, down)
    for i in range(len(codes)):
        own = codes[i]
        D[i] *= factors[1 if said[i] == own else 0]
        rival = mine = -math.inf
        for k in range(votes.shape[1]):
            vote = votes[i, k] + (alpha if k == said[i] else 0.0)
            votes[i, k] = vote
            mine = vote if k == own else mine
            rival = vote if k != own and vote > rival else rival
        failed += shares[i] * (1.0 if rival >= mine else 0.0)
    return failed
