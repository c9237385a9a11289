"""Ctrl-C and time limits at random moments: ``python -m tests.reliability.interrupts [TRIES [SEED]]``.

A fit that is interrupted either returns a usable model, or raises KeyboardInterrupt; the next fit gives the same bits as ever.
"""

from __future__ import annotations

import inspect
import random
import signal
import sys
import time
import warnings
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from tests.reliability.results import write
from tests.reliability.roster import estimators, make

from surefit.core.errors import SurefitError

LATEST = 0.05  # seconds


def data(model: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return rows that take some milliseconds, and a target of the right kind."""
    rng = np.random.default_rng(0)
    X = np.abs(rng.normal(size=(150, 4)))
    y = X @ [1.0, -1.0, 2.0, 0.5] + 0.3 * rng.normal(size=150) + 5.0
    if is_classifier(model):
        y = (y > np.median(y)).astype(int)
    elif not model.__sklearn_tags__().target_tags.single_output:
        y = np.column_stack([y, y[::-1]])
    return (X[:, 0] if not model.__sklearn_tags__().input_tags.two_d_array else X), y


def arguments(model: Any) -> tuple[Any, ...]:
    """Return the arguments of ``fit``."""
    X, y = data(model)
    return (X, y) if model.__sklearn_tags__().target_tags.required else (X,)


def answer(model: Any, X: np.ndarray) -> np.ndarray:
    """Return what the model says about the rows."""
    for name in ("predict", "transform", "score_samples", "kneighbors"):
        if hasattr(model, name):
            found = getattr(model, name)(X)
            return np.asarray(found[0] if isinstance(found, tuple) else found)
    return np.asarray(model.labels_)


def interrupted(model: Any, given: tuple[Any, ...], after: float) -> bool:
    """Fit and press Ctrl-C after some seconds; return whether KeyboardInterrupt was raised."""

    def press(*_: Any) -> None:
        signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGALRM, press)
    raised = False
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, after)
            model.fit(*given)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0.0)
    except KeyboardInterrupt:
        raised = True
    finally:
        signal.signal(signal.SIGALRM, before)
    return raised


def refused(model: Any, given: tuple[Any, ...]) -> bool:
    """Return whether a search says that its time was too short to compare anything."""
    try:
        model.fit(*given)
    except SurefitError as error:
        assert "ended before" in str(error)
        return True
    return False


def faults(cls: type, tries: int, seed: int) -> list[str]:
    """Return what went wrong when fits of ``cls`` were interrupted or limited at random moments."""
    draw, wrong = random.Random(f"{cls.__name__} {seed}"), []
    reference = make(cls)
    given = arguments(reference)
    started = time.perf_counter()
    expected = answer(reference.fit(*given), given[0])
    latest = min(LATEST, 1.5 * (time.perf_counter() - started))
    limited = "max_time" in inspect.signature(cls.__init__).parameters
    for k in range(tries):
        model, moment = make(cls), draw.uniform(1e-6, latest)
        try:
            if limited and k % 2:
                raised = refused(model.set_params(max_time=moment), given)
            else:
                raised = interrupted(model, given, moment)
            if not raised:
                assert np.isfinite(np.asarray(answer(model, given[0]), dtype=float)).all(), "predictions are not finite"
                model.certificate_.verify(*given)
            assert np.array_equal(answer(make(cls).fit(*given), given[0]), expected), "the next fit differs"
        except Exception as error:
            wrong.append(
                f"{cls.__name__} after {moment:.4f} s ({'max_time' if limited and k % 2 else 'Ctrl-C'}): {error!r}"
            )
    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        wrong.append(f"{cls.__name__}: the handler of Ctrl-C was left behind")
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return wrong


def main(words: list[str]) -> int:
    """Print the faults and the count."""
    warnings.simplefilter("ignore")
    tries, seed = int(words[0]) if words else 20, int(words[1]) if len(words) > 1 else 0
    signal.signal(signal.SIGINT, signal.default_int_handler)
    wrong = [fault for cls in estimators() for fault in faults(cls, tries, seed)]
    write("interrupts", "Ctrl-C and max_time at random moments of a fit", tries * len(estimators()), len(wrong))
    print(*wrong, f"{tries * len(estimators())} interrupts, {len(wrong)} faults", sep="\n")
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
