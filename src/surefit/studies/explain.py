"""Explanations of a model: coefficients, permutation importances, partial dependence, and the rows with the largest errors."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any, NamedTuple

import numpy as np

from surefit.studies.metrics import Answers, Metric, score
from surefit.studies.model import CalibratedModel, TableModel, conformity

REPEATS = 5
MOST_ROWS = 500  # rows over which partial dependence averages
MOST_SHUFFLED = 2000  # rows on which importances are measured
MOST_ANSWERS = 60_000  # limit on predictions for the importances of all columns, with at least 200 rows each
GRID = 20


class Importance(NamedTuple):
    """Decrease in performance when a column is permuted, and its standard deviation over permutations."""

    column: str
    loss: float
    spread: float


class Coefficient(NamedTuple):
    """Coefficient of a feature: per standard deviation, and per unit; ``label`` is its class."""

    feature: str
    standardized: float
    per_unit: float
    label: str = ""


class Dependence(NamedTuple):
    """Mean prediction along the values of a column; one line per class if there are several."""

    column: str
    values: list[Any]
    lines: dict[str, np.ndarray]
    numeric: bool


def answers_of(predictor: CalibratedModel, X: np.ndarray, y: np.ndarray) -> Answers:
    """Return the predictions of a model on encoded rows, with all weights 1."""
    if predictor.is_classifier:
        return Answers(y, predictor.predict_codes(X), predictor.predict_proba(X), np.ones(len(y)))
    return Answers(y, predictor.predict(X), None, np.ones(len(y)))


def importances(model: TableModel, X: np.ndarray, y: np.ndarray, metric: Metric, seed: int = 0) -> list[Importance]:
    """Return the importance of each column on the given rows, largest first; all features of a column are permuted together."""
    predictor, columns = model.predictor_, np.asarray(model.encoder_.feature_columns_)
    rng = np.random.RandomState(seed)
    most = min(MOST_SHUFFLED, max(200, MOST_ANSWERS // (REPEATS * len(set(model.encoder_.feature_columns_)) or 1)))
    if len(X) > most:
        chosen = rng.permutation(len(X))[:most]
        X, y = X[chosen], y[chosen]
    usual = metric.loss(score(metric, answers_of(predictor, X, y)))
    found = []
    for name in dict.fromkeys(model.encoder_.feature_columns_):
        mine, losses = np.flatnonzero(columns == name), []
        for _ in range(REPEATS):
            shuffled = X.copy()
            shuffled[:, mine] = X[np.ix_(rng.permutation(len(X)), mine)]
            losses.append(metric.loss(score(metric, answers_of(predictor, shuffled, y))) - usual)
        found.append(Importance(name, float(np.mean(losses)), float(np.std(losses))))
    return sorted(found, key=lambda each: -each.loss)


def coefficients(model: TableModel) -> list[Coefficient]:
    """Return the coefficients of a linear model, largest first; empty for other models."""
    w = getattr(model.predictor_.estimator_, "coef_", None)
    if w is None or np.ndim(w) not in (1, 2) or np.shape(w)[-1] != len(model.encoder_.feature_names_):
        return []
    weights = np.atleast_2d(np.asarray(w, dtype=np.float64)) * model.predictor_.scale_
    classes = model.classes_
    labels = [""] * len(weights)
    if len(classes):
        labels = [str(classes[1])] if len(weights) == 1 else [str(name) for name in classes]
    found = [
        Coefficient(name, float(weights[k, j]), float(weights[k, j] / model.encoder_.scales_[j]), labels[k])
        for k in range(len(weights)) for j, name in enumerate(model.encoder_.feature_names_)
    ]  # fmt: skip
    return sorted(found, key=lambda each: -abs(each.standardized))


def dependence(model: TableModel, X: np.ndarray, column: str) -> Dependence | None:
    """Return the mean prediction when a column is set to each of its values in all rows; None for text columns."""
    encoder = model.encoder_
    recipe, rows = encoder.recipes_[column], X[:MOST_ROWS].copy()
    mine = [j for j, name in enumerate(encoder.feature_columns_) if name == column]
    if recipe["kind"] == "text" or not mine:
        return None
    if recipe["kind"] == "category":
        names = {encoder.feature_names_[j]: j for j in mine}
        levels = recipe["levels"][:12]
        settings = [(level, {j: float(name == f"{column}={level}") for name, j in names.items()}) for level in levels]
    else:
        place = next((j for j in mine if encoder.feature_names_[j] == column), None)
        if place is None:
            return None
        grid = np.unique(np.quantile(X[:, place], np.linspace(0.02, 0.98, GRID)))
        own = grid * encoder.scales_[place] + encoder.means_[place]
        rest = {j: 0.0 for j in mine if encoder.feature_names_[j].endswith("is missing")}
        settings = [(float(value), {place: float(value), **rest}) for value in own]
    means: list[np.ndarray] = []
    for _, features in settings:
        for j, value in features.items():
            rows[:, j] = (value - encoder.means_[j]) / encoder.scales_[j]
        means.append(_mean_answer(model.predictor_, rows))
    table = np.vstack(means)
    values: list[Any] = [value for value, _ in settings]
    if recipe["kind"] == "date":
        values = [date(1970, 1, 1) + timedelta(days=round(days)) for days in values]
    return Dependence(column, values, _lines(model, table), recipe["kind"] != "category")


def _mean_answer(predictor: CalibratedModel, X: np.ndarray) -> np.ndarray:
    return (
        predictor.predict_proba(X).mean(axis=0) if predictor.is_classifier else np.array([predictor.predict(X).mean()])
    )


def _lines(model: TableModel, table: np.ndarray) -> dict[str, np.ndarray]:
    classes = model.classes_
    if not len(classes):
        return {f"mean {model.target_}": table[:, 0]}
    shown = [1] if len(classes) == 2 else range(min(len(classes), 4))
    return {f"P({classes[k]})": table[:, k] for k in shown}


def worst_rows(
    model: TableModel, X: np.ndarray, y: np.ndarray, rows: np.ndarray, most: int = 10
) -> list[dict[str, Any]]:
    """Return the rows with the largest errors, largest first."""
    distance = conformity(model.predictor_, X, y)
    order = np.argsort(-distance, kind="stable")[:most]
    answers = model.predictor_.predict(X[order])
    truth = model.classes_[y[order]] if len(model.classes_) else y[order]
    return [
        {"row": int(rows[i]), "truth": t.item(), "prediction": a.item(), "distance": float(distance[i])}
        for i, t, a in zip(order, truth, answers, strict=True)
    ]  # fmt: skip


class Explanation(NamedTuple):
    """All explanations of one model, on rows that it has not seen if there are any."""

    importances: list[Importance]
    coefficients: list[Coefficient]
    dependences: list[Dependence]
    worst: list[dict[str, Any]]
    tree: str


def explain(
    model: TableModel, X: np.ndarray, y: np.ndarray, rows: np.ndarray, metric: Metric, most: int = 4
) -> Explanation:
    """Explain a model on encoded rows; partial dependence is computed for the most important columns."""
    found = importances(model, X, y, metric)
    lines = [dependence(model, X, each.column) for each in found[:most] if each.loss > 0]
    return Explanation(
        found,
        coefficients(model),
        [line for line in lines if line is not None],
        worst_rows(model, X, y, rows),
        tree_lines(model),
    )


def tree_lines(model: TableModel) -> str:
    """Return a decision tree as indented lines, with thresholds and values in the units of the table; empty for other models."""
    from surefit.solvers.trees.flat import FlatTree
    from surefit.trees.rules import tree_text

    tree, encoder, predictor = getattr(model.predictor_.estimator_, "tree_", None), model.encoder_, model.predictor_
    if not isinstance(tree, FlatTree):
        return ""
    split = np.maximum(tree.feature, 0)
    own = tree.threshold * encoder.scales_[split] + encoder.means_[split]
    value = tree.values if predictor.is_classifier else predictor.shift_ + predictor.scale_ * tree.values
    codes = np.asarray(getattr(predictor.estimator_, "classes_", ()), dtype=np.int64)
    classes = model.classes_[codes] if predictor.is_classifier else None
    return tree_text(tree._replace(threshold=own, values=value), encoder.feature_names_, {}, classes)
