"""Result of a study: model, leaderboard and findings. It can be rebuilt from the model file and its data."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from surefit.core.certificate import Certificate
from surefit.studies.certify import Checked
from surefit.studies.compare import Comparison, Result
from surefit.studies.encoded import Encoded
from surefit.studies.explain import Explanation, explain
from surefit.studies.metrics import METRICS, Answers, Metric, score, standard_error
from surefit.studies.model import TableModel
from surefit.studies.options import Options
from surefit.studies.prepare import Prepared
from surefit.studies.splits import Split


@dataclass(frozen=True)
class Study:
    """Certified model of a table, with all results of the study; returned by :func:`surefit.study`.

    Attributes
    ----------
    model : TableModel
        The winner, refitted on all rows but the test part.
    rows : list of dict
        The leaderboard: one line per family, best first.
    findings : list of Checked
        Every claim, with the finding of the independent checker.
    notes : tuple of str
        Notes about the data and the run.
    comparison, winner
        The comparison and the winning candidate; None if the study was rebuilt from a model file.
    """

    options: Options
    prepared: Prepared
    split: Split
    metric: Metric
    model: TableModel
    part: Encoded = field(repr=False)
    findings: list[Checked]
    trouble: str | None
    notes: tuple[str, ...]
    verify_seconds: float
    comparison: Comparison | None = None
    winner: Result | None = None

    @property
    def task(self) -> str:
        """``classification`` or ``regression``."""
        return self.prepared.target.task

    @property
    def certificate(self) -> Certificate | None:
        """Certificate of the winner's fit."""
        return self.model.certificate_

    @property
    def risk_certificate(self) -> Certificate | None:
        """Bound on the error on new data."""
        return self.model.risk_certificate_

    @property
    def choice(self) -> Certificate | None:
        """The bound used to choose the winner, with ``select="bound"``."""
        return self.model.choice_certificate_

    @property
    def certificates(self) -> dict[str, Certificate]:
        """All certificates of the model, by subject: ``fit``, ``risk``, ``intervals``, ``choice``."""
        intervals = self.model.intervals_
        found = {
            "fit": self.certificate,
            "risk": self.risk_certificate,
            "intervals": None if intervals is None or self.risk_certificate is None else intervals.certificate_,
            "choice": self.choice,
        }
        return {name: each for name, each in found.items() if each is not None}

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The lines of the leaderboard, best first; families that were not scored come last."""
        return self.model.record_["leaderboard"]

    @property
    def stopped(self) -> str | None:
        """``"time"`` or ``"interrupted"`` if the comparison ended early."""
        return self.model.record_["stopped"]

    @property
    def threshold(self) -> float | None:
        """Probability from which the rarer class is predicted, if a threshold was chosen."""
        return self.model.record_["threshold"]

    @property
    def leaderboard(self) -> Any:
        """The leaderboard as a polars data frame."""
        import polars

        return polars.DataFrame(self.rows, strict=False)

    @cached_property
    def test(self) -> Answers | None:
        """The winner's predictions on the test part; None without a test part."""
        part, model = self.part, self.model.predictor_
        if not len(part.held):
            return None
        weights = self.prepared.weights
        w = np.ones(len(part.held)) if weights is None else weights[part.held].astype(np.float64)
        if self.task == "regression":
            return Answers(part.y_held, model.predict(part.X_held), None, w)
        return Answers(part.y_held, model.predict_codes(part.X_held), model.predict_proba(part.X_held), w)

    @cached_property
    def test_scores(self) -> dict[str, tuple[float, float]]:
        """Every metric of the task on the test part, with its standard error."""
        if self.test is None:
            return {}
        mine = [m for m in METRICS.values() if m.task == self.task and m.name != "pinball"]
        mine += [self.metric] if self.metric.name.startswith("pinball") else []
        units = self.prepared.units[self.part.held]
        return {m.name: (score(m, self.test), standard_error(m, self.test, units)) for m in mine}

    @cached_property
    def baseline(self) -> float:
        """The metric of the best constant prediction on the test part."""
        if self.test is None:
            return float("nan")
        y, n = self.part.y, len(self.test.truth)
        if self.task == "regression":
            level = self.metric.level if self.metric.name.startswith("pinball") else None
            constant = np.quantile(y, level) if level else np.median(y) if self.metric.name == "mae" else np.mean(y)
            return score(self.metric, self.test._replace(predicted=np.full(n, constant)))
        shares = np.bincount(y, minlength=len(self.part.classes)) / len(y)
        same = np.full(n, int(np.argmax(shares)))
        return score(self.metric, self.test._replace(predicted=same, probabilities=np.tile(shares, (n, 1))))

    @cached_property
    def explanation(self) -> Explanation:
        """Explanations of the model on the test part, or on the training rows if there is no test part."""
        part = self.part
        tested = len(part.held) > 0
        X, y, rows = (part.X_held, part.y_held, part.held) if tested else (part.X, part.y, part.rows)
        return explain(self.model, X, y, self.prepared.table.rows[rows], self.metric)

    def save(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the model to a file."""
        from surefit.persistence import save

        save(self.model, path, overwrite=overwrite)

    def report(self) -> str:
        """Return the report as one HTML page."""
        from surefit.report import render

        return render(self)

    def write_report(self, path: str | Path, overwrite: bool = False) -> None:
        """Write the report to a file."""
        from surefit.persistence import write_file

        write_file(path, self.report().encode("utf-8"), overwrite)

    def words(self) -> dict[str, Any]:
        """Return the text of the report."""
        from surefit.studies.report_words import report_words

        return report_words(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the study as plain values, as printed by ``surefit fit --json``."""
        from surefit.studies.words import as_plain

        return as_plain(self)

    def __repr__(self) -> str:
        from surefit.studies.words import as_text

        return as_text(self)

    def _repr_html_(self) -> str:
        from surefit.studies.words import as_html

        return as_html(self)
