"""The gap theorem: bounds on suboptimality for every convex loss, penalty and operator (theory: ``fenchel-gap``)."""

from surefit.checks.gap.assembly import Gap
from surefit.checks.gap.consequences import (
    certain_labels,
    coefficient_distance,
    largest_score_distance,
    least_multiplier,
    score_distance,
    zero_in_every_solution,
)
from surefit.checks.gap.dual_points import Dual, Free, Point
from surefit.checks.gap.losses import Entropic, Logistic, Piecewise, loss_of
from surefit.checks.gap.operators import Dense, Gram, Sparse, operator_of
from surefit.checks.gap.penalties import Penalty, penalty_of
from surefit.checks.gap.theorem import prove, prove_kernel, scores_at

__all__ = [
    "Dense",
    "Dual",
    "Entropic",
    "Free",
    "Gap",
    "Gram",
    "Logistic",
    "Penalty",
    "Piecewise",
    "Point",
    "Sparse",
    "certain_labels",
    "coefficient_distance",
    "largest_score_distance",
    "least_multiplier",
    "loss_of",
    "operator_of",
    "penalty_of",
    "prove",
    "prove_kernel",
    "score_distance",
    "scores_at",
    "zero_in_every_solution",
]
