"""Common loop of all descents: steps, full gradients, stopping rules and the budget."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from surefit.core.budget import Budget
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.text import counted
from surefit.core.warn import warn
from surefit.optimizers.outcome import Descent
from surefit.optimizers.steps import StepTheory
from surefit.optimizers.stopping import OTHER_REASONS, State, gap_of

RISES = 1e8  # an objective that increased by this factor has diverged


def descend(
    who: str,
    function,
    start,
    move: Callable[[np.ndarray, float, np.ndarray, int], tuple[np.ndarray, np.ndarray, float]],
    stopping: Sequence[Any],
    max_iter: int,
    max_time: float | None,
) -> Descent:
    """Repeat ``move(w, value, gradient, t) -> (w, returned point, step)`` until a stopping rule is satisfied or the budget is spent."""
    w = _read_start(who, function, start)
    theory = StepTheory.of(function)
    point, value, gradient = w, function.value(w), function.gradient(w)
    first = abs(value) + 1.0
    history, path = [(0.0, value, float(np.linalg.norm(gradient)), 0.0)], [w.copy()]
    n_iter, reason = 0, None
    state = State(value, history[0][2], np.inf, np.inf, theory.strong_convexity)
    met = next((rule for rule in stopping if rule.met(state)), None)
    with Budget(max_iter, max_time) as budget, np.errstate(over="ignore", invalid="ignore"):
        while met is None and reason is None:
            w, judged, step = move(w, value, gradient, n_iter)
            n_iter += 1
            before, point = (value, point), judged
            value, gradient = function.value(point), function.gradient(point)
            norm = float(np.linalg.norm(gradient))
            history.append((budget.seconds, value, norm, step))
            path.append(point.copy())
            if not np.isfinite(value) or value > RISES * first:
                reason = "diverged"
            elif step == 0.0:
                reason = "stuck"
            else:
                change = float(np.linalg.norm(point - before[1]))
                state = State(value, norm, change, before[0] - value, theory.strong_convexity)
                met = next((rule for rule in stopping if rule.met(state)), None)
                spent = None if met is not None else budget.spent(n_iter, gap_of(norm, theory.strong_convexity))
                reason = None if spent is None else str(spent)
    word = _word(met) if met is not None else str(reason)
    sentence = met.sentence() if met is not None else OTHER_REASONS[word]
    if word == "diverged":
        limit = f"; steps below 2/L = {theory.limit:.6g} converge" if np.isfinite(theory.smoothness) else ""
        sentence += limit
    norm = history[-1][2]
    if met is None:
        warn(f"{who}: {sentence} (gradient norm {norm:.3g} after {counted(n_iter, 'iteration')}).", ConvergenceWarning)
    return Descent(
        point, value, norm, gap_of(norm, theory.strong_convexity), n_iter, word, sentence, met is not None,
        np.array(history), np.array(path), theory,
    )  # fmt: skip


def _word(rule) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", type(rule).__name__).lower()


def _read_start(who: str, function, start) -> np.ndarray:
    w = np.zeros(function.dimension) if start is None else np.array(start, dtype=np.float64)
    if w.shape != (function.dimension,) or not np.all(np.isfinite(w)):
        raise InvalidData(f"{who}: the start must be {function.dimension} finite numbers; got shape {w.shape}.")
    return w


def read_stopping(who: str, stopping) -> tuple:
    """Return a tuple of stopping rules; a single rule is accepted."""
    rules = (stopping,) if hasattr(stopping, "met") else tuple(stopping)
    if not all(hasattr(rule, "met") for rule in rules):
        raise InvalidParameter(who, "stopping", "a stopping rule or several", stopping)
    return rules
