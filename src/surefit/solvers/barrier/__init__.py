"""Interior-point method for any convex loss with any penalty, in feature space or in an RKHS."""

from surefit.solvers.barrier.kernel import minimize_kernel
from surefit.solvers.barrier.linear import minimize
from surefit.solvers.barrier.path import Result
from surefit.solvers.barrier.penalty import PenaltyTerms, penalty_terms

__all__ = ["PenaltyTerms", "Result", "minimize", "minimize_kernel", "penalty_terms"]
