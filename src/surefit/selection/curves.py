"""Learning, validation and complexity curves as objects, with a verdict: underfits, fits, overfits."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_random_state

from surefit.checks.risk_rows import take_rows
from surefit.core import tables
from surefit.core.errors import InvalidParameter
from surefit.risk.losses import Loss, losses_of, read_loss, respond
from surefit.risk.parts import fit_part
from surefit.risk.target import read_target
from surefit.risk.units import find_units
from surefit.selection.cross_validation import named
from surefit.selection.fold_losses import folds_of, measure


@dataclass(frozen=True)
class Curve:
    """Training and test error along a path of models or of sample sizes.

    ``kind`` is ``"complexity"`` (simple models first) or ``"learning"``; ``x`` the places, called ``name``; ``train`` and
    ``test`` mean losses; ``uncertainty`` twice the standard error of the test loss, an estimate.
    """

    kind: str
    name: str
    x: tuple
    train: np.ndarray
    test: np.ndarray
    uncertainty: np.ndarray
    loss: Loss

    @property
    def gaps(self) -> np.ndarray:
        """Test less training error."""
        return self.test - self.train

    @property
    def best(self) -> int:
        """Place of the smallest test error; the first of equal ones."""
        return int(np.argmin(self.test))

    @property
    def chosen(self) -> int:
        """First place within one standard error of the smallest test error: the simplest that is good enough."""
        return int(np.flatnonzero(self.test <= self.test[self.best] + self.uncertainty[self.best] / 2)[0])

    @property
    def verdicts(self) -> tuple[str, ...]:
        """One word a place.

        Complexity: ``underfits`` if a richer model has a smaller training error and a test error smaller by more than the
        uncertainty; ``overfits`` if the test error exceeds the training error by more than the uncertainty (its own or that of the
        best model, whichever is smaller) and a simpler model does no worse; else ``fits``. Learning: ``overfits`` while the gap exceeds
        the uncertainty, else ``settled``.
        """
        return tuple(self._verdict(k) for k in range(len(self.x)))

    def _verdict(self, k: int) -> str:
        # A wild model's own uncertainty is wild too; it must not excuse it.
        gap = self.gaps[k] > min(self.uncertainty[k], self.uncertainty[self.best])
        if self.kind == "learning":
            return "overfits" if gap else "settled"
        richer = (self.train[k + 1 :] < self.train[k]) & (self.test[k + 1 :] < self.test[k] - self.uncertainty[k])
        if np.any(richer):
            return "underfits"
        return "overfits" if gap and np.any(self.test[:k] <= self.test[k]) else "fits"

    @property
    def sentence(self) -> str:
        """What the curve says, in one sentence."""
        if self.kind == "learning":
            gap = f"The gap between training and test error at {self.x[-1]} rows is {self.gaps[-1]:.3g}"
            if self.verdicts[-1] == "overfits":
                return f"{gap}, more than the uncertainty of {self.uncertainty[-1]:.2g}: more rows, or a simpler model, should help."
            return f"{gap}, within the uncertainty of {self.uncertainty[-1]:.2g}: a richer model may help, more rows hardly."
        words = [f"{self.name} = {self.x[k]} {verdict}" for k, verdict in enumerate(self.verdicts) if verdict != "fits"]
        end = "; ".join(words) if words else "no place under- or overfits beyond the uncertainty"
        best, chosen = self.x[self.best], self.x[self.chosen]
        return f"The smallest test error is at {self.name} = {best}, the simplest within reach is {chosen}; {end}."

    def __repr__(self) -> str:
        marks = [
            ", ".join(word for word, place in (("best", self.best), ("chosen", self.chosen)) if place == k)
            for k in range(len(self.x))
        ]
        rows: list[tuple[str, ...]] = [
            (str(x), f"{a:.4g}", f"{b:.4g}", f"{u:.2g}", verdict, mark)
            for x, a, b, u, verdict, mark in zip(
                self.x, self.train, self.test, self.uncertainty, self.verdicts, marks, strict=True
            )
        ]
        header = (self.name, "train", "test", "+-", "verdict", "")
        return tables.text_table(f"{self.kind} curve, {self.loss.words}", header, rows, self.sentence)


def complexity_curve(
    estimators, X, y, *, cv=5, loss=None, y_range=None, groups=None, assume=(), random_state=None, name="model"
) -> Curve:
    """Errors of several models, given from simple to rich, on the same folds.

    Parameters
    ----------
    estimators : list or dict of estimators
        Simplest first.
    X, y : array-like
        Rows and targets.
    cv, loss, y_range, groups, assume, random_state
        As in :func:`cross_validate`.
    name : str, default="model"
        What the places of the curve are called.

    Returns
    -------
    Curve

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.pipeline import make_pipeline
    >>> from surefit import LinearRegression, PolynomialBasis, complexity_curve
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(-1, 1, size=(60, 1))
    >>> y = (x**2).ravel() + 0.1 * rng.normal(size=60)
    >>> degrees = {d: make_pipeline(PolynomialBasis(d), LinearRegression()) for d in (1, 2, 14)}
    >>> curve = complexity_curve(degrees, x, y, random_state=0, name="degree")
    >>> curve.verdicts, curve.x[curve.chosen]
    (('underfits', 'fits', 'overfits'), 2)
    """
    models = named(estimators)
    folds, read_as = measure(
        "complexity_curve", list(models.values()), X, y, cv=cv, loss=loss, y_range=y_range, groups=groups, assume=assume,
        random_state=random_state,
    )  # fmt: skip
    tested = np.hstack([folds.unit_losses(k) for k in range(folds.n_folds)]) * read_as.scale
    error = tested.std(axis=1, ddof=1) / math.sqrt(tested.shape[1])
    train = folds.train_losses.mean(axis=1) * read_as.scale
    return Curve("complexity", name, tuple(models), train, tested.mean(axis=1), 2 * error, read_as)


def validation_curve(
    estimator,
    X,
    y,
    *,
    param_name,
    param_range,
    cv=5,
    loss=None,
    y_range=None,
    groups=None,
    assume=(),
    random_state=None,
) -> Curve:
    """Errors of one model along values of a parameter, given from simple to rich.

    Parameters
    ----------
    estimator : estimator
        The model.
    X, y : array-like
        Rows and targets.
    param_name : str
        Name of the parameter.
    param_range : list
        Values, those of the simplest model first (a large penalty, a small degree).
    cv, loss, y_range, groups, assume, random_state
        As in :func:`cross_validate`.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.tree import DecisionTreeClassifier
    >>> from surefit import validation_curve
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> tree = DecisionTreeClassifier(random_state=0)
    >>> curve = validation_curve(tree, X, y, param_name="max_depth", param_range=[1, 3, 9], random_state=0)
    >>> len(curve.x), bool(curve.train[2] < curve.train[0])
    (3, True)
    """
    models = {value: clone(estimator).set_params(**{param_name: value}) for value in param_range}
    return complexity_curve(
        models, X, y, cv=cv, loss=loss, y_range=y_range, groups=groups, assume=assume, random_state=random_state,
        name=param_name,
    )  # fmt: skip


def learning_curve(
    estimator,
    X,
    y,
    *,
    train_sizes=(0.1, 0.33, 0.55, 0.78, 1.0),
    cv=5,
    loss=None,
    y_range=None,
    groups=None,
    assume=(),
    random_state=None,
) -> Curve:
    """Errors of one model trained on more and more rows, tested on the same folds.

    Parameters
    ----------
    estimator : estimator
        The model.
    X, y : array-like
        Rows and targets.
    train_sizes : list of float or int
        Shares (up to 1.0) or numbers of the training rows of a fold.
    cv, loss, y_range, groups, assume, random_state
        As in :func:`cross_validate`.

    Returns
    -------
    Curve

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from surefit import learning_curve
    >>> X, y = load_digits(return_X_y=True)
    >>> curve = learning_curve(GaussianNB(), X, y, train_sizes=[100, 400, 1400], random_state=0)
    >>> curve.x, bool(curve.test[2] < curve.test[0])
    ((100, 400, 1400), True)
    """
    who = "learning_curve"
    target = read_target(who, X, y)
    classifier = is_classifier(estimator)
    read_as = read_loss(who, loss, y_range, classifier=classifier, has_proba=hasattr(estimator, "predict_proba"))
    read_as = Loss("unbounded", "predict", True) if read_as.name == "quantile" else read_as
    units = find_units(who, X, target, groups, assume)
    rng = check_random_state(random_state)
    splits, _ = folds_of(who, cv, units, target, classifier, rng)
    sizes = _sizes(who, train_sizes, min(len(np.unique(units.codes[train])) for train, _ in splits))
    classes = np.unique(target) if read_as.method == "predict_proba" else None
    trained = np.zeros((len(sizes), len(splits)))
    tested: list[list[np.ndarray]] = [[] for _ in sizes]
    for k, (train, test) in enumerate(splits):
        order = rng.permutation(np.unique(units.codes[train]))
        for s, size in enumerate(sizes):
            rows = units.rows(order[:size])
            model = fit_part(who, estimator, X, target, rows)
            found = [_losses(who, model, X, target, part, read_as, classes) for part in (rows, test)]
            trained[s, k] = found[0].mean()
            tested[s].append(units.means(found[1], test))
    losses = np.vstack([np.concatenate(parts) for parts in tested]) * read_as.scale
    error = losses.std(axis=1, ddof=1) / math.sqrt(losses.shape[1])
    train_means = trained.mean(axis=1) * read_as.scale
    return Curve("learning", "rows", tuple(sizes), train_means, losses.mean(axis=1), 2 * error, read_as)


def _losses(who: str, model: Any, X, y: np.ndarray, rows: np.ndarray, loss: Loss, classes) -> np.ndarray:
    return losses_of(who, loss, y[rows], respond(model, take_rows(X, rows), loss, classes), classes)


def _sizes(who: str, wanted, largest: int) -> list[int]:
    sizes = [round(size * largest) if isinstance(size, float) and size <= 1 else int(size) for size in wanted]
    if not sizes or min(sizes) < 1 or max(sizes) > largest or sorted(set(sizes)) != sizes:
        raise InvalidParameter(who, "train_sizes", f"increasing shares, or numbers from 1 to {largest}", wanted)
    return sizes
