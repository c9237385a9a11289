"""Study of a table: comparison, choice and certification of models in one call."""

from __future__ import annotations

import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from surefit._version import __version__
from surefit.core.errors import CertificateError, InvalidData
from surefit.studies.answers import calibrate
from surefit.studies.budget import Clock, Interrupts
from surefit.studies.certify import bound_of, check, intervals_of, rows_of
from surefit.studies.choose import choose
from surefit.studies.compare import Comparison, Entry, Result, compare
from surefit.studies.encoded import Encoded, encode_part, fit_on
from surefit.studies.metrics import METRICS, Metric, read_metric
from surefit.studies.model import TableModel, as_dicts
from surefit.studies.notes import data_notes
from surefit.studies.options import Options
from surefit.studies.outcome import Study
from surefit.studies.prepare import Prepared, prepare
from surefit.studies.splits import Split, split_rows
from surefit.studies.words import leaderboard_rows
from surefit.tables import BUILTINS, Table, as_table, builtin_table, counted, read_table

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba", "polars")
RARE = 0.1  # fraction of the rarer of two classes below which error rates are not informative
Watch = Callable[[list[Entry], Clock], None]


def study(table: Any, target: str | None = None, *, watch: Watch | None = None, **options: Any) -> Study:
    r"""Compare model families on a table, choose one, and certify it.

    The rows are split into a test part and a training part. Every candidate is scored by cross-validation on the
    training part. The winner is refitted on the training part, its certificate is verified, and the test part is used
    once, for the winner.

    Guarantee: with probability at least ``confidence``, the error of the returned model on new data is at most the bound of
    ``risk_certificate``, if rows (with ``group``: groups) are independent draws from one distribution (theory: :ref:`concentration`).
    With ``time``, no bound on the error on new data is claimed.

    Parameters
    ----------
    table : str, Path or data frame
        A file, the name of a built-in data set, or a polars or pandas data frame.
    target : str or None
        Column to predict; None: the column called ``target``, ``y``, ``label`` or ``class``.
    watch : callable(entries, clock) or None
        Called at every step of the comparison.
    **options
        ``task``: ``"classification"`` or ``"regression"``. ``models``: names of families. ``max_time``: seconds, 60 by default.
        ``metric``: ``error``, ``log-loss``, ``brier``, ``auc``, ``f1``, ``rmse``, ``mae``, ``r2`` or ``pinball:0.9``. ``select``:
        ``"best"``, ``"1se"`` (simplest within one standard error of the best) or ``"bound"`` (smallest bound, at a fraction of delta
        for each candidate). ``class_weight``: ``"balanced"`` or weights by class. ``test_size``, ``seed``, ``confidence``.
        ``group``, ``time``, ``weight``: columns. ``missing``: ``"impute"``, ``"drop"`` or ``"refuse"``. ``columns``: kinds by name
        (``number``, ``category``, ``date``, ``text``, ``drop``). ``decimal``, ``dates`` (``"dmy"``, ``"mdy"``), ``na``: spelling.

    Returns
    -------
    Study
        Leaderboard, model, certificates, report.

    Examples
    --------
    >>> import surefit
    >>> found = surefit.study("tumors", max_time=10, models=("linear", "discriminant"))
    >>> found.task, found.winner.family.name
    ('classification', 'linear')
    >>> found.risk_certificate.holds is not False
    True
    """
    chosen = Options(target=_target_of(table, target), **options)
    return run(_read(table), chosen, watch or (lambda entries, clock: None))


def _target_of(table: Any, target: str | None) -> str | None:
    return BUILTINS[table].target if target is None and isinstance(table, str) and table in BUILTINS else target


def _read(table: Any) -> Table:
    if isinstance(table, str) and table in BUILTINS:
        return builtin_table(table)
    return read_table(table) if isinstance(table, (str, Path)) else as_table(table)


def run(table: Table, options: Options, watch: Watch) -> Study:
    """Run a study; see :func:`study`."""
    clock, interrupts = Clock(options.max_time), Interrupts()
    with interrupts.heard():
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            prepared = prepare(table, options)
            metric = metric_for(prepared, options)
            split = split_rows(prepared, options)
            comparison = compare(prepared, split, metric, options, clock, watch)
            compared = clock.spent
            winner = choose(comparison, metric, options)
            model, part = _final(prepared, split, metric, options, winner, clock.left)
        said = _unbounded(winner, comparison, options)
        said += [str(warning.message) for warning in caught if not issubclass(warning.category, DeprecationWarning)]
        with interrupts.shielded():
            _prove(model, part, prepared, split, options, comparison, winner)
            model.record_ |= {
                "leaderboard": leaderboard_rows(comparison.entries, winner, metric),
                "candidates": comparison.candidates,
                "stopped": comparison.stopped,
                "seconds": {"compare": round(compared, 3), "total": round(clock.spent, 3)},
                "notes": list(dict.fromkeys(said)),
            }
            done = _concluded(model, prepared, split, metric, options, part, comparison=comparison, winner=winner)
    if interrupts.pressed:
        model.record_["stopped"] = "interrupted"
    return done


def _unbounded(winner: Result, comparison: Comparison, options: Options) -> list[str]:
    """Return a note that the score decided because no bound was available."""
    if options.select != "bound" or np.isfinite(winner.bound):
        return []
    share = counted(comparison.candidates, "candidate")
    return [
        f"The held-out rows are too few for a bound at a share of the failure probability for each of {share}; the score decided."
    ]


def _prove(
    model: TableModel, part: Encoded, prepared: Prepared, split: Split, options: Options, comparison: Comparison, winner: Result
) -> None:  # fmt: skip
    """Calibrate intervals and bound the error on the test part; with ``select="bound"``, store the bound used."""
    if len(part.held):
        model.intervals_ = intervals_of(model.predictor_, part, options)
        if prepared.times is None:
            model.risk_certificate_ = bound_of(model.predictor_, part, options)
    if options.select == "bound" and np.isfinite(winner.bound):
        model.first_ = winner.first
        first = encode_part(prepared, *split.folds[0], options)
        model.choice_certificate_ = bound_of(winner.first, first, options, comparison.candidates)


def revisit(model: TableModel, table: Table) -> Study:
    """Rebuild the study of a model from its training table; the claims are re-derived."""
    options = Options.from_record(model.record_["options"])
    prepared = prepare(table, options)
    metric = metric_for(prepared, options)
    part = rows_of(model, prepared, options)
    return _concluded(model, prepared, split_rows(prepared, options), metric, options, part)


def _concluded(
    model: TableModel, prepared: Prepared, split: Split, metric: Metric, options: Options, part: Encoded, **run: Any
) -> Study:
    """Verify every claim, and assemble the study."""
    began = time.perf_counter()
    try:
        findings, trouble = check(model, part, prepared, split, options), None
    except CertificateError as error:
        findings, trouble = [], str(error)
    spent = time.perf_counter() - began
    notes = (*prepared.table.notes, *data_notes(prepared, part, metric, options), *model.record_["notes"])
    return Study(options, prepared, split, metric, model, part, findings, trouble, notes, spent, **run)


def metric_for(prepared: Prepared, options: Options) -> Metric:
    """Return the requested metric, or the default of the task; raise ``InvalidParameter`` if it belongs to the other task."""
    task = prepared.target.task
    if options.metric is not None:
        metric = read_metric(options.metric)
        assert metric is not None
        if metric.task != task:
            usable = ", ".join(m.name for m in METRICS.values() if m.task == task)
            raise InvalidData(
                f"--metric {options.metric} is for {metric.task}, but the task is {task}; use one of {usable}."
            )
        return metric
    if task == "regression":
        return METRICS["rmse"]
    shares = np.bincount(prepared.target.y) / len(prepared.target.y)
    return METRICS["f1" if len(shares) == 2 and shares.min() < RARE else "error"]


def _final(
    prepared: Prepared, split: Split, metric: Metric, options: Options, winner: Result, left: float
) -> tuple[TableModel, Encoded]:
    """Refit the winner on all rows but the test part; a second Ctrl-C keeps the model of the first fold instead."""
    model, rows, where = TableModel(), split.train, "train"
    try:
        part = encode_part(prepared, rows, split.test, options)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the certificate states the gap of the fit
            model.predictor_ = fit_on(winner.candidate, part, options, max(left, 3 * winner.seconds))
    except KeyboardInterrupt:
        where, rows = "fold", split.folds[0][0]
        part = encode_part(prepared, rows, split.test, options)
        model.predictor_ = winner.first
    threshold = calibrate(model.predictor_, winner.held, prepared, metric, options)
    model.encoder_ = part.encoder
    model.columns_ = as_dicts(prepared.columns)
    model.target_ = prepared.target.name
    model.risk_certificate_, model.choice_certificate_ = None, None
    model.intervals_ = None
    model.record_ = {
        "source": prepared.table.source, "options": options.record(), "fitted_on": where, "metric": metric.name,
        "family": winner.family.name, "title": winner.family.title, "candidate": winner.candidate.label,
        "rows": len(rows), "test_rows": len(split.test), "threshold": threshold, "versions": versions(),
    }  # fmt: skip
    return model, part


def versions() -> dict[str, str]:
    """Return the versions of all packages that affect the numbers."""
    found = {"surefit": __version__, "python": platform.python_version()}
    return found | {name: version(name) for name in LIBRARIES}
