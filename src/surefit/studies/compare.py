"""Comparison of all candidates on all folds, fast families first, until all are done, time is up, or Ctrl-C."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import SurefitError
from surefit.core.threads import one_blas_thread
from surefit.studies import budget
from surefit.studies.answers import Held, answered
from surefit.studies.budget import Clock
from surefit.studies.encoded import Encoded, few_rows, fit_on, fold_data
from surefit.studies.families import Candidate, Family, Size, families_for
from surefit.studies.metrics import Answers, Metric, score, standard_error
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared
from surefit.studies.splits import Split

#: Exceptions that a study expects from candidates on unsuitable data.
EXPECTED = (SurefitError, ValueError, ArithmeticError, np.linalg.LinAlgError, MemoryError)

FEW = 300  # number of rows for compiling loops
SMALL = 5000  # number of rows below which one BLAS thread is faster


class Result(NamedTuple):
    """One candidate on all folds: its score, and its held-out predictions."""

    family: Family
    candidate: Candidate
    rank: tuple[int, int]  # rank by simplicity: of the family, and of the candidate in it
    score: float
    standard_error: float
    seconds: float  # of one fit
    gap: float
    held: Held
    answers: Answers
    first: Any  # the model of the first fold
    bound: float = float("nan")


@dataclass
class Entry:
    """Line of the leaderboard: a family, its state, and its best candidate so far."""

    family: Family
    planned: int = 0
    tried: int = 0
    state: str = "waiting"
    note: str = ""
    best: Result | None = None
    seconds: float = 0.0


class TimeIsUp(Exception):
    """Raised when the time budget is exhausted."""


@dataclass
class Comparison:
    """Entries and results of a comparison, and the reason why it ended early (``time``, ``interrupted`` or None)."""

    entries: list[Entry]
    results: list[Result] = field(default_factory=list)
    stopped: str | None = None
    candidates: int = 0


def compare(
    prepared: Prepared,
    split: Split,
    metric: Metric,
    options: Options,
    clock: Clock,
    watch: Callable[[list[Entry], Clock], None] = lambda entries, clock: None,
) -> Comparison:
    """Score all candidates of all suitable families; results so far are kept after Ctrl-C or at the time limit."""
    folds = fold_data(prepared, split, options)
    clock.restart()  # the budget is for fits, not for reading and encoding
    classes = len(prepared.target.classes) or 1
    size = Size(len(folds[0].X), folds[0].X.shape[1], classes)
    families = families_for(prepared.target.task)
    entries = [Entry(f) for f in families if not options.models or f.name in options.models or f.name == "constant"]
    for entry in entries:
        _plan(entry, size, options)
    order = {id(entry): clock.estimate(entry.family, size, len(folds) * max(entry.planned, 1)) for entry in entries}
    first = ("constant", "linear")  # always first: the baselines for every other family
    entries.sort(
        key=lambda e: (first.index(e.family.name) if e.family.name in first else 2, e.state == "left out", order[id(e)])
    )
    comparison = Comparison(entries, candidates=sum(entry.planned for entry in entries))
    run = Run(comparison, folds, prepared, metric, options, clock, size)
    try:
        with one_blas_thread() if size.n < SMALL else nullcontext():
            for entry in entries:
                if entry.state == "waiting":
                    run.family(entry, lambda: watch(entries, clock))
    except TimeIsUp:
        comparison.stopped = "time"
    except KeyboardInterrupt:
        if not comparison.results:
            raise
        comparison.stopped = "interrupted"
    for entry in entries:
        if entry.state in ("waiting", "running"):
            entry.state = "stopped" if entry.best else "not tried"
    watch(entries, clock)
    return comparison


def _plan(entry: Entry, size: Size, options: Options) -> None:
    """Count the candidates of a family, or record the reason why it is skipped."""
    family = entry.family
    why = None
    if size.n > family.most_rows:
        why = f"meant for at most {int(family.most_rows)} rows"
    if why is None and size.n < family.least_rows:
        why = f"needs at least {family.least_rows} rows"
    if why is None and size.d > family.most_features:
        why = f"meant for at most {int(family.most_features)} features"
    if why is None and (options.weight or options.class_weight) and not family.weighted:
        why = "takes no weights"
    why = why or budget.memory_reason(family, size)
    if why is not None:
        entry.state, entry.note = "left out", why
    else:
        entry.planned = len(family.candidates(size))


@dataclass
class Run:
    """State of a running comparison."""

    comparison: Comparison
    folds: list[Encoded]
    prepared: Prepared
    metric: Metric
    options: Options
    clock: Clock
    size: Size

    @property
    def reserve(self) -> float:
        """Return the seconds reserved for the refit of the best candidate so far, and for its verification."""
        best = min(self.comparison.results, key=lambda r: self.metric.loss(r.score), default=None)
        return 0.0 if best is None else 3.0 * best.seconds + 0.05 * self.clock.max_time

    def family(self, entry: Entry, tell: Callable[[], None]) -> None:
        """Try the candidates of a family; skip it if the estimated time exceeds the budget."""
        family, left = entry.family, self.clock.left - self.reserve
        need = self.clock.estimate(family, self.size, len(self.folds) + 2)
        always = family.name == "constant" or (
            family.name == "linear" and need - budget.compiling(family) <= self.clock.max_time
        )
        if need > left and not always:
            entry.state = "left out"
            entry.note = (
                f"would take about {need:.0f} s, {max(left, 0):.0f} s were left" if left > 1 else "no time was left"
            )
            return
        entry.state = "running"
        tell()
        began, expected = time.perf_counter(), 0.0
        candidates = family.candidates(self.size)
        self._compile(family, candidates[0])
        for place, candidate in enumerate(candidates):
            if place > 0 and expected * candidate.factor > self.clock.left - self.reserve:
                entry.note = "stopped early for lack of time"
                break
            if (result := self._candidate(entry, candidate, place)) is not None:
                self._keep(entry, result)
                expected = len(self.folds) * result.seconds / candidate.factor
            entry.seconds = time.perf_counter() - began
            tell()
        entry.state = "done" if entry.best is not None else "failed"
        tell()

    def _compile(self, family: Family, candidate: Candidate) -> None:
        """Compile or load a family's loops on a few rows first, so that measured times exclude compilation."""
        if family.loops in budget.REMEMBERED | {""}:
            return
        with warnings.catch_warnings(), suppress(*EXPECTED):
            warnings.simplefilter("ignore")
            fit_on(candidate, few_rows(self.folds[0], FEW), self.options, self.clock.left)
        budget.REMEMBERED.add(family.loops)

    def _keep(self, entry: Entry, result: Result) -> None:
        entry.tried += 1
        self.comparison.results.append(result)
        by = (lambda r: r.bound) if self.options.select == "bound" else (lambda r: self.metric.loss(r.score))
        if entry.best is None or by(result) < by(entry.best):
            entry.best = result

    def _candidate(self, entry: Entry, candidate: Candidate, place: int) -> Result | None:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # gaps are shown; warnings of candidates are irrelevant here
                return self._scored(entry.family, candidate, place)
        except EXPECTED as error:
            first = (str(error).strip().splitlines() or [type(error).__name__])[0]
            entry.note = first[:160]
            return None

    def _scored(self, family: Family, candidate: Candidate, place: int) -> Result:
        held, models, seconds = [], [], []
        for fold in self.folds:
            if self.comparison.results and place > 0 and self.clock.left <= self.reserve:
                raise TimeIsUp  # the first candidate of a started family is always finished
            began = time.perf_counter()
            model = fit_on(candidate, fold, self.options, self.clock.left - self.reserve)
            seconds.append(time.perf_counter() - began)
            models.append(model)
            held.append(model.score_classes(fold.X_held) if fold.classes else model.predict(fold.X_held))
        if family.name != "constant":
            self.clock.observe(seconds[-1], candidate.factor * family.seconds(self.size))
        pooled = Held(
            np.concatenate(held), np.concatenate([fold.held for fold in self.folds]),
            np.repeat(np.arange(len(held)), [len(each) for each in held]),
        )  # fmt: skip
        answers = answered(pooled, self.prepared, self.metric, self.options)
        units = self.prepared.units[pooled.rows]
        rank = ([f.name for f in families_for(family.task)].index(family.name), place)
        result = Result(
            family, candidate, rank, score(self.metric, answers), standard_error(self.metric, answers, units),
            float(np.min(seconds)), gap_of(models[0].estimator_), pooled, answers, models[0],
        )  # fmt: skip
        if self.options.select == "bound":
            from surefit.studies.certify import bound_of

            found = bound_of(models[0], self.folds[0], self.options, self.comparison.candidates)
            result = result._replace(bound=float(found.claims[0].value))
        return result


def gap_of(estimator: Any) -> float:
    """Return the certified gap of a fit: the first optimality claim with a limit, otherwise NaN."""
    certificate = getattr(estimator, "certificate_", None)
    claims = [] if certificate is None else certificate.claims
    gaps = [claim.value for claim in claims if claim.name.endswith("gap") and claim.limit is not None]
    return float(gaps[0]) if gaps else float("nan")
