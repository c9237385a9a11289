"""Runs of perceptrons, read from a certificate and the data; each array is validated when it is read."""

from __future__ import annotations

from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import Bound
from surefit.checks.judge import shared
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.textbook import Rule
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data


class Log(NamedTuple):
    """The log of one two-class problem."""

    rows: np.ndarray  # row of each logged update
    start: np.ndarray  # weights and offset before the first update
    factors: np.ndarray  # of a step schedule, one per logged update; empty if there is none
    counts: np.ndarray | None  # number of updates of each row, if the log is incomplete

    @property
    def updates(self) -> int:
        """Number of updates, logged or not."""
        return len(self.rows) if self.counts is None else int(self.counts.sum())


class Run:
    """One two-class problem: labels, rule, log and final weights."""

    def __init__(self, certificate: Certificate, data: Data, p: int) -> None:
        self.certificate, self.data, self.p = certificate, data, p
        self.own = {"problem": p} if len(certificate.model["classes_"]) > 2 else {}  # numbers of its claims
        self.beta = certificate.problem["bias_step"]

    @cached_property
    def t(self) -> np.ndarray:
        """Labels as -1 and 1."""
        positive = 1 if len(self.certificate.model["classes_"]) == 2 else self.p
        return 2.0 * (codes_of(self.certificate, self.data) == positive) - 1.0

    @cached_property
    def rule(self) -> Rule:
        """Steps and thresholds."""
        problem = self.certificate.problem
        (minus, plus), (below, above) = problem["steps"][self.p], problem["cuts"]
        return Rule(minus, plus, below, above, self.beta)

    @cached_property
    def steps(self) -> np.ndarray:
        """Signed step of an update on each row."""
        return np.where(self.t > 0, self.rule.step_plus, -self.rule.step_minus)

    @cached_property
    def weights(self) -> np.ndarray:
        """Final weights of the run, with the intercept last; an averaged model stores them separately."""
        return final_weights(self.certificate, self.data)[self.p]

    @cached_property
    def low(self) -> Bound:
        """Lower bound on the margin of the final weights, including the constant feature."""
        w, b = self.weights[:-1], float(self.weights[-1])
        return geometry.lowest_margin(self.data, self.t, w, b, geometry.norm_of(w, b, self.beta))

    @cached_property
    def log(self) -> Log:
        """The log stored in the witness of the replay claim."""
        (n, d), witness = self.data.X.shape, self.witness("perceptron.replay")
        rows, start = row_numbers(witness["rows"], n), numbers(witness["start"], d + 1)
        factors = numbers(witness["factors"], len(rows)) if "factors" in witness else np.empty(0)
        counts = witness.get("counts")
        if counts is not None:
            known = counts.shape == (n,) and counts.dtype.kind in "iu"
            if not known or np.any(counts < np.bincount(rows, minlength=n)):
                raise ValueError("the counts are not those of a log that was cut")
        return Log(rows, start, factors, counts)

    def witness(self, name: str) -> dict[str, np.ndarray]:
        """Return the witness of the claim called ``name`` about the same problem."""
        for other in self.certificate.claims:
            if other.name == name and number_of(self.certificate, other) == self.p:
                return other.witness
        raise ValueError(f"there is no claim {name} about problem {self.p}")

    def slack(self, updates: int) -> float:
        """Bound the difference between two orders of summing a score within this many updates."""
        largest = max(self.rule.step_minus, self.rule.step_plus) * float(np.max(self.log.factors, initial=0.0) or 1.0)
        return geometry.slack_of(self.data, self.beta, self.log.start, updates * largest)


def number_of(certificate: Certificate, claim: Claim) -> int:
    """Return the index of the two-class problem of the claim."""
    p, most = claim.numbers.get("problem", 0), len(certificate.model["classes_"])
    if type(p) is not int or not 0 <= p < (1 if most == 2 else most):
        raise ValueError(f"there is no two-class problem number {p!r}")
    return p


def run_of(certificate: Certificate, claim: Claim, data: Data) -> Run:
    """Return the run of a claim; claims about the same problem share it."""
    return numbered_run(certificate, data, number_of(certificate, claim))


@shared
def numbered_run(certificate: Certificate, data: Data, p: int) -> Run:
    """Return the run of the two-class problem with index ``p``."""
    require_distinct(certificate, data)
    return Run(certificate, data, p)


@shared
def require_distinct(certificate: Certificate, data: Data) -> None:
    """Raise an error if two claims of the same name are about the same problem."""
    named = [(claim.name, repr(claim.numbers["problem"])) for claim in certificate.claims if "problem" in claim.numbers]
    if len(set(named)) < len(named):
        raise ValueError("two claims of the same name are about the same problem")


def all_runs(certificate: Certificate, data: Data) -> list[Run]:
    """Return the runs of all two-class problems."""
    return [numbered_run(certificate, data, p) for p in range(len(certificate.problem["steps"]))]


def about(claim: Claim) -> str:
    """Return a phrase that names the two-class problem of a claim."""
    if "problem" not in claim.numbers:
        return "this fitted model"
    return f"the problem 'classes_[{claim.numbers['problem']}] against the rest'"


@shared
def codes_of(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the index of each label among the classes; raise an error for an unknown label."""
    classes, y = certificate.model["classes_"], data.target
    classes = classes.astype(np.float64) if classes.dtype.kind in "biuf" else classes
    if classes.ndim != 1 or len(classes) < 2 or np.any(classes[1:] <= classes[:-1]):
        raise ValueError("classes_ is not a sorted list of two or more labels")
    codes = (y == classes[-1]).astype(np.int64)
    if len(classes) > 2:
        codes = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    known = classes[codes] == y
    if not np.all(known if data.weights is None else known | (data.weights == 0)):
        raise ValueError("a label of y is not among classes_")
    return codes.astype(np.int64)


def row_numbers(rows: np.ndarray, n: int) -> np.ndarray:
    """Return row indices; raise an error if a row does not exist."""
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or (len(rows) and not (0 <= rows.min() and rows.max() < n)):
        raise ValueError("the log names rows that do not exist")
    return rows.astype(np.int64)


def numbers(values: Any, *shape: int) -> np.ndarray:
    """Return finite numbers of the given shape; raise an error otherwise."""
    if values.shape != shape or values.dtype.kind not in "iuf" or not np.all(np.isfinite(values)):
        raise ValueError(f"finite numbers of shape {shape} were expected")
    return values.astype(np.float64)


def row_weights(stated: Claim, data: Data) -> np.ndarray:
    """Return the witness of an upper bound: one number >= 0 per row."""
    alpha = numbers(stated.witness["alpha"], data.X.shape[0])
    if np.any(alpha < 0):
        raise ValueError("the weights of the rows must be >= 0")
    return alpha


def final_weights(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the final weights of all problems, with the intercept last."""
    model = certificate.model
    prefix = "last_" if "last_coef_" in model else ""
    lines = 1 if len(model["classes_"]) == 2 else len(model["classes_"])
    coef = numbers(model[prefix + "coef_"], lines, data.X.shape[1])
    return np.column_stack([coef, numbers(model[prefix + "intercept_"], lines)])
