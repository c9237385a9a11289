"""Problem of a composed kernel model: a loss of the scores plus half the squared norm in the RKHS."""

from __future__ import annotations

from typing import Any

from surefit.losses import is_margin_loss
from surefit.problems.base import Given, problem_of
from surefit.problems.kernel_ridge import null_degree, null_record
from surefit.problems.kernels import kernel_record
from surefit.problems.linear import linear_problem
from surefit.problems.terms import loss_numbers, loss_term, penalty_numbers, penalty_term


@problem_of("KernelModel")
def kernel_model(given: Given) -> dict[str, Any]:
    """Return the problem: mean loss plus ``alpha / 2`` times the squared norm; functions of the null space are not penalized."""
    loss = loss_term(given.params["loss"])
    penalty = penalty_numbers(penalty_term("l2", given.params["alpha"]), 0)
    problem = linear_problem(loss_numbers(loss), penalty, given, mean=True, labels=bool(is_margin_loss(loss)))
    free = {"fit_intercept": null_degree(given.params) is not None, "null_space": null_record(given.params)}
    return {**problem, **free, "kernel": kernel_record(given)}
