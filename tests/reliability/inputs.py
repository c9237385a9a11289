"""Every public estimator against the matrix of inputs: ``python -m tests.reliability.inputs [NAME ...]``.

A fit either verifies, predicts finite numbers and agrees with the same numbers in another form, or is refused in one sentence.
"""

from __future__ import annotations

import inspect
import sys
import warnings
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.utils import get_tags
from tests.reliability.matrix import Input, inputs
from tests.reliability.results import write
from tests.reliability.roster import estimators, make

import surefit
from surefit.core.errors import InvalidData, InvalidParameter

METHODS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
#: Warnings that tell the user something about the data or the fit; those of NumPy are none.
SPOKEN = (UserWarning, FitFailedWarning)
AGREE = 1e-6  # relative difference of answers to the same numbers in another form
AGREE_SPARSE = 2e-2  # solvers for sparse rows stop elsewhere within ``tol``


class Outcome(NamedTuple):
    """What happened: ``kind`` is "fitted", "refused" or "fault"."""

    kind: str
    words: str = ""
    answers: dict[str, np.ndarray] | None = None


def arguments(cls: type, found: Input) -> tuple[Any, dict[str, Any]] | None:
    """Return the arguments of ``fit``, or None if the estimator takes no weights."""
    model = make(cls)
    tags, names = get_tags(model), inspect.signature(model.fit).parameters
    if found.weights is not None and "sample_weight" not in names:
        return None
    X, y = found.X, found.labels if is_classifier(model) else found.y
    if not tags.input_tags.two_d_array:  # one variable
        X = _first_column(X)
    if tags.input_tags.positive_only and isinstance(X, np.ndarray) and X.dtype.kind == "f":
        X = abs(X)
    if not is_classifier(model) and isinstance(y, np.ndarray) and y.dtype.kind == "f":
        if tags.target_tags.positive_only:  # counts and amounts
            y = np.abs(y) + 1.0
        if not tags.target_tags.single_output:
            y = np.column_stack([y, np.roll(y, 1)])
    options = {} if found.weights is None else {"sample_weight": found.weights}
    unsupervised = not tags.target_tags.required
    return ((X,) if unsupervised else (X, y)), options


def _first_column(X: Any) -> Any:
    if isinstance(X, np.ndarray):
        return X[:, 0] if X.ndim > 1 and X.shape[1] else X
    if sparse.issparse(X):
        return X.toarray()[:, 0]
    return [row[0] for row in X] if isinstance(X, list) else X[next(iter(X.columns))]


def trial(cls: type, found: Input, expected: Outcome | None = None) -> Outcome | None:
    """Fit, predict and verify; None if the input cannot be passed at all."""
    given = arguments(cls, found)
    if given is None:
        return None
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        outcome = _attempt(make(cls), *given)
    inside = [w for w in caught if not issubclass(w.category, SPOKEN)]
    if inside and outcome.kind != "fault":
        place = f"{inside[0].filename.rpartition('site-packages/')[2]}:{inside[0].lineno}"
        return Outcome("fault", f"{inside[0].category.__name__} at {place}: {inside[0].message}")
    if outcome.kind == "fitted" and expected is not None:
        return _compared(outcome, expected, AGREE_SPARSE if "sparse" in found.name else AGREE)
    return outcome


def _attempt(model: Any, data: tuple[Any, ...], options: dict[str, Any]) -> Outcome:
    try:
        model.fit(*data, **options)
    except (InvalidData, InvalidParameter) as error:
        said = str(error)
        return Outcome("refused" if "\n" not in said and said.strip() else "fault", said)
    except Exception as error:
        return Outcome("fault", f"fit raised {_place(error)}")
    answers, refusals = {}, {}
    for name in METHODS:
        try:
            if hasattr(model, name):
                answers[name] = _numbers(getattr(model, name)(data[0]))
        except (InvalidData, InvalidParameter) as error:
            refusals[name] = str(error)
        except Exception as error:
            return Outcome("fault", f"{name} raised {_place(error)}")
    if refusals.keys() & {"predict", "transform"}:  # too few neighbors, which only a prediction needs
        return Outcome("refused", next(iter(refusals.values())))
    for name, values in answers.items():
        known = (
            values > -np.inf if name == "decision_function" else True
        )  # a class that was not among the rows scores -inf
        if values.dtype.kind == "f" and not np.isfinite(values).all(where=known):
            return Outcome("fault", f"{name} is not finite")
    try:
        if "_certificate" in model.__dict__:
            model.certificate_.verify(data[0], data[1] if len(data) > 1 else None, **options)
    except Exception as error:
        return Outcome("fault", f"verify raised {_place(error)}")
    return Outcome("fitted", answers=answers)


def _numbers(values: Any) -> np.ndarray:
    if isinstance(values, tuple):
        values = values[0]
    return np.asarray(values.toarray() if sparse.issparse(values) else values)


def _place(error: Exception) -> str:
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    where = (
        ""
        if trace is None
        else f" at {trace.tb_frame.f_code.co_filename.rpartition('site-packages/')[2]}:{trace.tb_lineno}"
    )
    return f"{type(error).__name__}{where}: {str(error).splitlines()[0][:200] if str(error) else ''}"


def _compared(outcome: Outcome, expected: Outcome, agree: float) -> Outcome:
    if expected.kind != "fitted":
        return Outcome("fault", f"fitted, but the same numbers are {expected.kind} as float64")
    for name, values in outcome.answers.items():
        other = expected.answers.get(name)
        if (
            other is not None and agree == AGREE_SPARSE and values.ndim == other.ndim == 2
        ):  # Lanczos steps leave the last axis out
            values, other = (part[:, : min(values.shape[1], other.shape[1])] for part in (values, other))
        if other is None or values.shape != other.shape:
            return Outcome("fault", f"{name} has another shape than for float64")
        if values.dtype.kind == "f":
            same = np.allclose(values, other, rtol=agree, atol=agree * max(1.0, float(np.abs(other).max(initial=0.0))))
        else:
            same = np.array_equal(values, other)
        if not same:
            return Outcome("fault", f"{name} differs from that for float64")
    return outcome


def run(classes: list[type], chosen: Any = lambda i, j: True) -> tuple[dict[str, int], list[str]]:
    """Return counts of outcomes and the faults, for the pairs of estimator and input that are ``chosen``."""
    counts = {"fitted": 0, "refused": 0, "fault": 0}
    faults = []
    matrix = inputs()
    reference = {found.name: found for found in matrix}
    for i, cls in enumerate(classes):
        known: dict[str, Outcome | None] = {}
        for j, found in enumerate(matrix):
            if not chosen(i, j):
                continue
            if found.same_as is not None and found.same_as not in known:
                known[found.same_as] = trial(cls, reference[found.same_as])
            outcome = trial(cls, found, known.get(found.same_as))
            if outcome is None:
                continue
            counts[outcome.kind] += 1
            if outcome.kind == "fault":
                faults.append(f"{cls.__name__} on {found.name}: {outcome.words[:300]!r}")
    return counts, faults


def main(names: list[str]) -> int:
    """Print the faults and the counts; return whether there were faults."""
    total = {"fitted": 0, "refused": 0, "fault": 0}
    for cls in estimators() if not names else [getattr(surefit, name) for name in names]:
        counts, faults = run([cls])
        total = {kind: total[kind] + counts[kind] for kind in total}
        print(f"{cls.__name__}: {counts}", *faults, sep="\n  ", flush=True)
    print(f"{sum(total.values())} inputs tried: {total}")
    if not names:
        what = (
            f"{len(estimators())} estimators, {len(inputs())} inputs each: fitted with proof or refused in a sentence"
        )
        write("inputs", what, sum(total.values()), total["fault"], fitted=total["fitted"], refused=total["refused"])
    return int(total["fault"] > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
