r"""Checks of runs over rows in order by repeating every pass, in memory or by partitions, without a log.

An update at visit :math:`v` of :math:`T` is included in the weights after :math:`T - v` visits, so the mean of the
weights is :math:`w_0 + \sum_j \frac{T - v_j}{T} a_j t_j x_j`, with steps :math:`a_j` and labels :math:`t_j`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, refused, shared
from surefit.checks.perceptrons import geometry
from surefit.checks.perceptrons.replays import fact
from surefit.checks.perceptrons.runs import final_weights, number_of, numbers, require_distinct
from surefit.checks.perceptrons.textbook import Rule, walk
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.partitioned import Part, PartitionedRows
from surefit.core.sample import Data


class Course(NamedTuple):
    """One two-class problem after some rows: weights with the intercept last, counts, and sums for the mean weights."""

    number: int
    weights: np.ndarray
    updates: int
    visits: int
    weighted: np.ndarray  # sum of visit number times update
    size: np.ndarray  # sum of the absolute values of its terms
    moved: np.ndarray  # sum of the absolute values of the updates
    wrong: int  # rows with a mistake in any problem in the first pass; stored in the first problem only
    before: int = 0  # updates before the last pass


@fact("perceptron.passes", partitioned=True,
      says="{passes} passes over the rows in their order, repeated in float64 arithmetic, made {value:.0f} updates and give the weights; "
      "the last pass made {last} of them.")  # fmt: skip
def passes(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Repeat all passes; they must end with the weights of the model, bit for bit."""
    p = number_of(certificate, stated)
    found = courses(certificate, data)[p]
    if not np.array_equal(found.weights, final_weights(certificate, data)[p]):
        return refused("the repeated passes do not give the weights")
    own: dict[str, Any] = {key: value for key, value in stated.numbers.items() if key in ("problem", "passes")}
    own["last"] = found.updates - found.before
    return Proof(float(found.updates), "exact", f"{stated.numbers['passes']} passes repeated.", own)


@fact("perceptron.mean", side="upper", partitioned=True,
      says="The weights are the mean of those held after each of the {visits} visits, to within {value:.3g}.")  # fmt: skip
def mean(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check the mean weights by summing the updates, each multiplied by the number of later visits."""
    p, lines = number_of(certificate, stated), len(certificate.problem["steps"])
    found, d = courses(certificate, data)[p], data.X.shape[1]
    coef, offset = numbers(certificate.model["coef_"], lines, d), numbers(certificate.model["intercept_"], lines)
    own = found.weights - found.weighted / found.visits
    # The sums of weights and of corrections are rounded once per update, and each term a few times.
    radius = gamma(2 * found.updates + 16) * (found.moved + 2 * found.size / found.visits)
    far = np.abs(np.append(coef[p], offset[p]) - own) * (1 + UNIT) + radius
    value, spread = (float(np.linalg.norm(part)) * (1 + gamma(d + 8)) for part in (far, 2 * radius))
    named = {"problem": stated.numbers["problem"]} if "problem" in stated.numbers else {}
    return Proof(
        value, "enclosed", f"{found.updates} updates added up.", {**named, "visits": found.visits}, spread=spread
    )


@shared
def courses(certificate: Certificate, data: Data) -> dict[int, Course]:
    """Return the state of all problems after the stated numbers of passes."""
    require_distinct(certificate, data)
    problem, d, classes = certificate.problem, data.X.shape[1], certificate.model["classes_"]
    stated = {
        number_of(certificate, c): c.numbers["passes"] for c in certificate.claims if c.name == "perceptron.passes"
    }
    if sorted(stated) != list(range(len(problem["steps"]))) or problem["multi_class"] != "ovr":
        raise ValueError("the certificate does not state the passes of each problem")
    if not all(type(count) is int and 0 <= count <= certificate.params["max_iter"] for count in stated.values()):
        raise ValueError("the numbers of passes are not numbers up to max_iter")
    low, high = problem["cuts"]
    rules = [Rule(minus, plus, low, high, problem["bias_step"]) for minus, plus in problem["steps"]]
    positive = [classes[1]] if len(rules) == 1 else list(classes)
    zero = np.zeros(d + 1)
    found = {p: Course(p, zero.copy(), 0, 0, zero.copy(), zero.copy(), zero.copy(), 0) for p in stated}
    for turn in range(max(stated.values())):
        active = [found[p]._replace(before=found[p].updates) for p in sorted(stated) if stated[p] > turn]
        for course in _fold(data, _repeat, active, positive, rules, turn == 0):
            found[course.number] = course
    return found


def _fold(data: Data, function: Any, state: Any, *small: Any) -> Any:
    if isinstance(data.X, PartitionedRows):
        return data.X.fold(function, state, *small)
    return function(Part(data.X, data.target, None, 0, "the rows"), state, *small)


def _repeat(part: Part, states: list[Course], positive: list[Any], rules: list[Rule], first: bool) -> list[Course]:
    """Process the rows of a partition in order, for all problems."""
    y, n, found = np.asarray(part.y), part.X.shape[0], []
    wrong, own = np.zeros(n, dtype=bool), Data(part.X, None, None, {})
    for state in states:
        rule = rules[state.number]
        t = np.where(y == positive[state.number], 1.0, -1.0)
        steps = np.where(t > 0, rule.step_plus, -rule.step_minus)
        slack = geometry.slack_of(own, rule.bias_step, state.weights, n * max(rule.step_minus, rule.step_plus))
        w = state.weights[:-1].copy()
        b, mistaken = walk(part.X, np.arange(n), t, rule, slack, np.empty(0), w, float(state.weights[-1]))
        rows = np.flatnonzero(mistaken)
        terms = part.X[rows]
        terms = np.asarray(terms.toarray() if hasattr(terms, "toarray") else terms, dtype=np.float64)
        factors = (state.visits + rows) * steps[rows]
        weighted = np.append(factors @ terms, np.sum(factors) * rule.bias_step)
        table = np.abs(np.column_stack([terms, np.full(len(rows), rule.bias_step)]))
        wrong |= mistaken
        found.append(
            state._replace(
                weights=np.append(w, b),
                updates=state.updates + len(rows),
                visits=state.visits + n,
                weighted=state.weighted + weighted,
                size=state.size + np.abs(factors) @ table,
                moved=state.moved + np.abs(steps[rows]) @ table,
            )
        )
    count = states[0].wrong + (int(np.sum(wrong)) if first else 0)
    return [found[0]._replace(wrong=count), *found[1:]]


def in_order(certificate: Certificate) -> bool:
    """Return whether the certificate states passes over the rows in order, without a log."""
    return any(claim.name == "perceptron.passes" for claim in certificate.claims)


def first_errors(certificate: Certificate, data: Data) -> int:
    """Return the number of rows with a mistake in any problem in the first pass."""
    return courses(certificate, data)[0].wrong
