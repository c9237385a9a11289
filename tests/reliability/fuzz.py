"""Random estimators, parameters and data: ``python -m tests.reliability.fuzz --seconds N --seed S`` (``make fuzz``).

Each round fits, predicts, verifies, saves, loads, verifies, mutates and verifies. The seed is printed; a round depends on the seed and its
number alone, so that ``--seed S --first K --rounds 1`` repeats it. A round of more than ``--limit`` seconds of CPU time is a fault, and the
next round runs in a new process. What was tried is recorded at the end, and also if the run is stopped by Ctrl-C or a signal; runs with
``--rounds`` repeat others and are not recorded.
"""

from __future__ import annotations

import argparse
import inspect
import random
import signal
import tempfile
import time
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tests.reliability.inputs import METHODS, SPOKEN, arguments
from tests.reliability.isolated import Ended, Isolated
from tests.reliability.matrix import Input
from tests.reliability.mutations import of_certificate, of_model, wrongly_accepted
from tests.reliability.results import write
from tests.reliability.roster import estimators, make

import surefit
from surefit.core.errors import InvalidData, InvalidParameter, SurefitError

MUTATIONS = 6  # per round
LIMIT = 60.0  # seconds of CPU time per round: a first fit that compiles takes up to 15 on a slow core
META = (
    "GridSearchCV",
    "RandomizedSearchCV",
    "StructuralRiskMinimizer",
    "EvidenceSelector",
)  # their parts are fuzzed themselves
#: Values that many parameters take; those outside of a parameter's domain are refused.
VALUES = (0, 1, 2, 3, 5, 0.0, 1e-12, 1e-3, 0.1, 0.5, 0.9, 1.0, 2.0, 10.0, 1e6, 1e12, True, False, None)
NAMES = (
    "rbf",
    "linear",
    "poly",
    "sigmoid",
    "laplacian",
    "l1",
    "l2",
    "elasticnet",
    "balanced",
    "auto",
    "scale",
    "cosine",
    "random",
    "full",
    "diag",
)


def drawn_data(draw: random.Random) -> Input:
    """Draw a data set from a grammar: a shape, a distribution of entries, damages to columns and rows, targets, weights."""
    rng = np.random.default_rng(draw.randrange(2**32))
    n, d = draw.choice([1, 2, 5, 8, 20, 20, 40, 40]), draw.choice([1, 2, 3, 6, 12])
    X = {
        "normal": lambda: rng.normal(size=(n, d)),
        "integers": lambda: rng.integers(-3, 4, size=(n, d)).astype(float),
        "heavy": lambda: rng.standard_cauchy(size=(n, d)),
        "binary": lambda: (rng.random((n, d)) < 0.5).astype(float),
        "grid": lambda: np.arange(n * d, dtype=float).reshape(n, d),
        "zeros": lambda: np.zeros((n, d)),
    }[draw.choice(["normal", "normal", "integers", "heavy", "binary", "grid", "zeros"])]()
    words = [f"{n} x {d}"]
    for name, damage in {
        "scaled": lambda X: X * 10.0 ** draw.choice([-200, -20, -6, 6, 20, 200]),
        "columns scaled": lambda X: X * 10.0 ** rng.uniform(-12, 12, size=d),
        "moved": lambda X: X + draw.choice([1e3, 1e8, -1e12]),
        "duplicated column": lambda X: X[:, rng.integers(0, d, size=d)],
        "duplicated rows": lambda X: X[rng.integers(0, n, size=n)],
        "nearly equal rows": lambda X: X[:1] + 1e-13 * X,
        "float32": lambda X: np.clip(X, -1e38, 1e38).astype(np.float32),
        "Fortran": np.asfortranarray,
    }.items():
        if draw.random() < 0.12:
            X, words = damage(X), [*words, name]
    y = draw.choice(
        [
            lambda: rng.normal(size=n),
            lambda: np.full(n, 2.5),
            lambda: X[:, 0].astype(float) * 2,
            lambda: rng.poisson(2, size=n) + 0.0,
        ]
    )()
    y = y * 10.0 ** draw.choice([0, 0, 0, 0, -8, 8, 100])
    labels = rng.integers(0, draw.choice([1, 2, 2, 2, 3, n]), size=n)
    labels = labels if draw.random() < 0.7 else np.array([f"c{k}" for k in labels])
    weights = draw.choice(
        [lambda: None] * 5
        + [
            lambda: rng.random(n),
            lambda: 10.0 ** rng.uniform(-20, 20, size=n),
            lambda: rng.integers(0, 3, size=n) * 1.0,
        ]
    )()
    return Input(", ".join(words), X, y, labels, weights)


def drawn_model(draw: random.Random) -> Any:
    """Draw an estimator and some of its parameters, inside or outside of their domains."""
    cls = draw.choice([cls for cls in estimators() if cls.__name__ not in META])
    model = make(cls)
    own = [
        name
        for name in inspect.signature(cls.__init__).parameters
        if name not in ("self", "n_jobs", "random_state", "max_memory", "verbose")
    ]
    for name in draw.sample(own, min(len(own), draw.choice([0, 0, 0, 1, 1, 2]))):
        default = getattr(model, name)
        value = draw.choice(NAMES) if isinstance(default, str) else draw.choice(VALUES)
        if (
            name in ("n_estimators", "max_iter", "n_components", "n_init")
            and isinstance(value, (int, float))
            and not isinstance(value, bool)
        ):
            value = min(value, 20)
        setattr(model, name, value)
    return model


def checked(draw: random.Random, model: Any, found: Input, folder: Path) -> str:
    """Take one model through its life; return "fitted" or "refused", and raise an error for a fault."""
    data, options = arguments(type(model), found) or arguments(type(model), found._replace(weights=None))
    try:
        model.fit(*data, **options)
        answers = {name: np.asarray(getattr(model, name)(data[0])) for name in METHODS[:4] if hasattr(model, name)}
    except SurefitError as error:
        assert "\n" not in str(error), "a refusal of several lines"
        if isinstance(error, (InvalidData, InvalidParameter)) or "ended before" in str(
            error
        ):  # a limit that left no model
            return "refused"
        raise
    for name, values in answers.items():
        assert values.dtype.kind != "f" or not np.isnan(values).any(), f"{name} has NaN"
    certificate = model.certificate_
    rows = (data[0], data[1] if len(data) > 1 else None)
    certificate.verify(*rows, **options)
    file = folder / "model"
    surefit.save(model, file, overwrite=True)
    again = surefit.load(file)
    again.certificate_.verify(*rows, **options)
    for name, values in answers.items():
        assert np.array_equal(np.asarray(getattr(again, name)(data[0])), values, equal_nan=values.dtype.kind == "f"), (
            f"{name} after load"
        )
    _mutated(draw, model, rows, options)
    return "fitted"


def _mutated(draw: random.Random, model: Any, rows: tuple[Any, Any], options: dict[str, Any]) -> None:
    certificate = model.certificate_
    changes = [(what, other.of(model), passes, None, None) for what, other, passes in of_certificate(certificate)]
    changes += [(what, certificate, False, name, other) for what, name, other in of_model(model)]
    for what, other, may_pass, name, value in draw.sample(changes, min(MUTATIONS, len(changes))):
        kept = None if name is None else model.__dict__[name]
        if name is not None:
            model.__dict__[name] = value
        try:
            assert not wrongly_accepted(partial(other.verify, *rows, **options), may_pass), f"accepted: {what}"
        finally:
            if name is not None:
                model.__dict__[name] = kept


def drawn(seed: int, k: int) -> tuple[random.Random, Any, Input, str]:
    """Return the draws of round ``k``, its model, its data and its description."""
    draw = random.Random(f"{seed} {k}")
    model, found = drawn_model(draw), drawn_data(draw)
    return draw, model, found, f"seed {seed}, round {k}: {model!r} on {found.name}".replace("\n", " ")


def round_of(seed: int, folder: Path, k: int) -> tuple[str, str]:
    """Return what happened in round ``k`` ("fitted", "refused" or "fault"), and its description."""
    draw, model, found, words = drawn(seed, k)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            kind = checked(draw, model, found, folder)
        except Exception as error:
            return "fault", f"{words}: {type(error).__name__}: {str(error)[:300]}"
    own = type(model).__name__  # surefit's sentences begin with the name, such as those about deprecated parameters
    inside = [w for w in caught if not issubclass(w.category, SPOKEN) and not str(w.message).startswith(f"{own}: ")]
    if inside:
        return (
            "fault",
            f"{words}: {inside[0].category.__name__} at {inside[0].filename}:{inside[0].lineno}: {inside[0].message}",
        )
    return kind, words


class Tally:
    """What a run has tried so far."""

    def __init__(self, seed: int) -> None:
        self.seed, self.counts, self.faults = seed, Counter(fitted=0, refused=0, fault=0), list[str]()
        self._started = time.monotonic()

    def seconds(self) -> float:
        """Return the time since the run began."""
        return time.monotonic() - self._started

    def add(self, kind: str, words: str) -> None:
        """Count a round, and keep and print the description of a fault."""
        self.counts[kind] += 1
        if kind == "fault":
            self.faults.append(words)
            print(words, flush=True)

    def summary(self) -> str:
        """Return the counts in a line."""
        return f"{self.counts.total()} rounds in {self.seconds() / 3600:.2f} hours: {dict(self.counts)}"

    def record(self) -> None:
        """Write the line of the run to the table of results; a run that ended no round leaves it as it is."""
        if not self.counts.total():
            return
        hours = self.seconds() / 3600
        what = f"random estimators, parameters and data for {hours:.2f} hours, seed {self.seed}"
        found = {"hours": round(hours, 2), "seed": self.seed, "findings": self.faults}
        write("fuzz", what, self.counts.total(), len(self.faults), **self.counts, **found)


def run(
    tally: Tally, *, limit: float, seconds: float = float("inf"), rounds: int | None = None, first: int = 0
) -> None:
    """Run rounds of at most ``limit`` seconds of CPU time until time or count is used up, and add them to the tally."""
    k = first
    with (
        tempfile.TemporaryDirectory() as folder,
        Isolated(partial(round_of, tally.seed, Path(folder)), limit) as process,
    ):
        while tally.seconds() < seconds and (rounds is None or k < first + rounds):
            try:
                kind, words = process(k)
            except Ended as error:
                kind, words = "fault", f"{drawn(tally.seed, k)[-1]}: {error}"
            tally.add(kind, words)
            k += 1


@contextmanager
def stoppable() -> Iterator[None]:
    """End the block, without an error, at Ctrl-C or a signal that asks the process to end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = [signal.signal(number, signal.default_int_handler) for number in numbers]
    try:
        yield
    except KeyboardInterrupt:
        print("stopped", flush=True)
    finally:
        for number, handler in zip(numbers, before, strict=True):
            signal.signal(number, handler)


def main(words: list[str] | None = None) -> int:
    """Fuzz for some seconds, print the counts and record them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=3600.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=None)
    parser.add_argument(
        "--limit", type=float, default=LIMIT, help="seconds of CPU time per round, compilation included"
    )
    chosen = parser.parse_args(words)
    print(f"seed {chosen.seed}", flush=True)
    tally = Tally(chosen.seed)
    with stoppable():
        run(tally, limit=chosen.limit, seconds=chosen.seconds, rounds=chosen.rounds, first=chosen.first)
    print(tally.summary())
    if chosen.rounds is None:
        tally.record()
    return int(bool(tally.faults))


if __name__ == "__main__":
    raise SystemExit(main())
