"""Sparse linear model along its regularization path, with the certified gap of every fit."""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData
from surefit.studies.options import Options
from surefit.studies.prepare import prepare
from surefit.tables import Table, TableEncoder

DECADES = 3.0  # decades below the weight at which all coefficients vanish


class Point(NamedTuple):
    """One fit of the path."""

    weight: float
    used: int
    gap: float
    enters: list[str]
    coefficients: np.ndarray


class Path(NamedTuple):
    """The fits of a path, strongest penalty first."""

    title: str
    weight: str
    n: int
    names: list[str]
    points: list[Point]

    def frame(self) -> Any:
        """Return a data frame with one row per penalty weight and one column per feature."""
        import polars

        table = np.vstack([point.coefficients for point in self.points])
        columns = {self.weight: [p.weight for p in self.points], "gap": [p.gap for p in self.points]}
        return polars.DataFrame(columns | {name: table[:, j] for j, name in enumerate(self.names)})


def sparse_path(table: Table, target: str | None, n_points: int = 12, kinds: dict[str, str] | None = None) -> Path:
    """Fit ``Lasso`` or ``LogisticRegression(l1_ratio=1)`` along decreasing penalties on all usable rows."""
    from surefit.linear.lasso.lasso import Lasso
    from surefit.linear.logistic.classifier import LogisticRegression

    prepared = prepare(table, Options(target=target, columns=kinds or {}))
    encoder = TableEncoder(prepared.kinds).fit(prepared.table)
    X, y, classes = encoder.transform(prepared.table), prepared.target.y, prepared.target.classes
    if len(classes) > 2:
        raise InvalidData(
            f"{table.source}: the path is for two classes or numbers; {prepared.target.name!r} has {len(classes)} classes."
        )
    z = (y - y.mean()) / (1.0 if classes else y.std() or 1.0)
    strongest = float(np.max(np.abs(X.T @ z))) / len(z)  # all coefficients vanish at this weight
    weights = strongest * np.logspace(0, -DECADES, n_points)
    seen: set[str] = set()
    points = []
    for weight in weights:
        model: Any = Lasso(alpha=weight) if not classes else LogisticRegression(C=1 / (weight * len(z)), l1_ratio=1.0)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the gap of every fit is shown
            model.fit(X, y if classes else z)
        w = np.ravel(model.coef_)
        used = [encoder.feature_names_[j] for j in np.flatnonzero(w)]
        gaps = [claim.value for claim in model.certificate_.claims if claim.name.endswith("gap")]
        points.append(Point(float(weight), len(used), float(gaps[0]), [name for name in used if name not in seen], w))
        seen |= set(used)
    title = "Logistic regression with the l1 norm" if classes else "Lasso of the standardized target"
    return Path(title, "alpha", len(z), encoder.feature_names_, points)
