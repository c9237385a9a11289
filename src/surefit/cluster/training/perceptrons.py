"""Perceptrons: partitions are processed in the order of the rows, with bitwise the same result as in memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.cluster.fitting import require_class_weights, require_defaults, trains
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.partitioned import ClusterLost, PartitionedRows, PassStopped
from surefit.perceptrons.linear import averaged_weights
from surefit.perceptrons.online import mistakes_per_pass, warn_if_stopped
from surefit.perceptrons.problem import starting_weights
from surefit.problems import pose
from surefit.solvers.perceptron.partitioned import resume, state_of, visit_rows
from surefit.solvers.perceptron.passes import Rule
from surefit.solvers.perceptron.run import SEPARATED, Walk


@trains("Perceptron", "AveragedPerceptron")
def perceptron(estimator: Any, rows: PartitionedRows) -> Any:
    """Fit a perceptron by sequential passes; the checker repeats all of them."""
    who, average = type(estimator).__name__, type(estimator).__name__ == "AveragedPerceptron"
    require_defaults(estimator, early_stopping=False, multi_class="ovr", warm_start=False)
    if estimator.order is not None and not (isinstance(estimator.order, str) and estimator.order == "cyclic"):
        raise InvalidParameter(who, "order", "None or 'cyclic' for rows in partitions", estimator.order)
    for name, wrong in (("bias", "r_squared"), ("class_weight", "balanced")):
        if getattr(estimator, name) == wrong:
            raise InvalidParameter(who, name, f"a value other than {wrong!r} for rows in partitions", wrong)
    if rows.weighted:
        raise InvalidData(f"{who}: sample_weight is not supported; repeat rows, or use SGDClassifier.")
    classes = estimator.classes_ = require_class_weights(estimator, rows)
    problem = pose(estimator, rows, *rows.outline, "classes_")
    lines = len(problem["steps"])
    w, b = starting_weights(estimator, None, None, (lines, rows.shape[1]))
    (low, high), beta = problem["cuts"], problem["bias_step"]
    rules = [Rule(minus, plus, low, high, beta, beta) for minus, plus in problem["steps"]]
    walks = [
        Walk(None, np.empty(0, np.int8), rule, np.empty(0), w[p], float(b[p]), max_log=0, average=average)
        for p, rule in enumerate(rules)
    ]
    positive = [classes[1]] if lines == 1 else list(classes)
    passes, errors = _descend(estimator, rows, walks, positive, rules)
    estimator._went_on, estimator._stream = False, None
    _record(estimator, rows, walks, problem, (passes, errors))
    return estimator


def _descend(
    estimator: Any, rows: PartitionedRows, walks: list[Walk], positive: list[Any], rules: list[Rule]
) -> tuple[int, int | None]:
    """Run passes until every problem has stopped; return their number, and the number of misclassified rows of the first pass."""
    reporter, n, n_iter, errors = progress_reporter(estimator, rows, None), rows.shape[0], 0, None
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        rows.budget = budget
        try:
            while active := [p for p, one in enumerate(walks) if one.ending is None]:
                before = [walks[p].updates for p in active]
                found = rows.fold(visit_rows, [state_of(walks[p], p) for p in active], positive, rules)
                errors = found[0].mistaken if errors is None else errors
                for state in found:
                    resume(walks[state.number], state)
                    walks[state.number].finish_pass(True, True, n, estimator.tol, estimator.n_iter_no_change)
                n_iter += 1
                most = max(walks[p].updates - k for p, k in zip(active, before, strict=True))
                reason = budget.spent(n_iter, most / n)
                if reason:
                    _end(walks, reason)
        except PassStopped as stop:  # stopped during a pass: keep the state before it
            _end(walks, stop.reason)
        except ClusterLost as error:
            best = {"coef": np.vstack([one.w for one in walks]), "intercept": np.array([one.offset for one in walks])}
            raise ClusterLost(str(error), best) from None
        finally:
            rows.budget = None
    if reporter is not None:
        reporter.finish()
    return n_iter, errors


def _end(walks: list[Walk], reason: Any) -> None:
    for one in walks:
        one.ending = one.ending or reason.value


def _record(
    estimator: Any, rows: PartitionedRows, walks: list[Walk], problem: dict[str, Any], done: tuple[int, int | None]
) -> None:
    """Set the fitted attributes and issue the claims; no attribute has one entry per row."""
    for name in ("mistake_counts_", "_log"):
        estimator.__dict__.pop(name, None)  # of an earlier fit in memory
    estimator.n_iter_, estimator.n_updates_ = done[0], sum(one.updates for one in walks)
    estimator.converged_ = all(one.ending == SEPARATED for one in walks)
    estimator.ending_ = next((one.ending for one in walks if one.ending != SEPARATED), SEPARATED)
    estimator.mistakes_per_pass_ = mistakes_per_pass(walks, done[0])
    estimator.last_coef_ = np.vstack([one.w for one in walks])
    estimator.last_intercept_ = np.array([one.offset for one in walks])
    estimator.coef_, estimator.intercept_ = estimator.last_coef_, estimator.last_intercept_
    model: tuple[str, ...] = ("classes_", "coef_", "intercept_")
    average = len(walks[0].lazy) > 0
    if average:
        coefs, offsets = zip(*(averaged_weights(one, False) for one in walks), strict=True)
        estimator.coef_, estimator.intercept_ = np.vstack(coefs), np.concatenate(offsets)
        model = (*model, "last_coef_", "last_intercept_")
    claims: list[Claim] = []
    for p, one in enumerate(walks):
        own = {"problem": p} if len(walks) > 1 else {}
        claims.append(Claim("perceptron.passes", numbers={**own, "passes": len(one.after_pass)}))
        if average and one.visits:
            claims.append(Claim("perceptron.mean", numbers={**own, "visits": int(one.visits)}))
    if done[1] is not None and not problem["looks_ahead"]:
        claims.append(Claim("perceptron.risk"))
    estimator._issue(
        "C", claims, problem=problem, model=model, sample=(rows, *rows.outline),
        run={"solver": "perceptron", "passes": done[0], "updates": estimator.n_updates_, "reason": estimator.ending_},
    )  # fmt: skip
    warn_if_stopped(estimator, rows.shape[0])
