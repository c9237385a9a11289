"""Fitting of boosted trees from parameters and targets, with learning curves and a certificate."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import check_scoring
from sklearn.model_selection import train_test_split

from surefit.core.budget import Budget, Reason
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter
from surefit.core.warn import warn
from surefit.ensembles.boosted_columns import find_categorical, interaction_groups, monotone_signs
from surefit.ensembles.boosted_statement import make_claims, training_witness
from surefit.ensembles.boosted_trees import PACKED
from surefit.ensembles.members import random_stream
from surefit.problems import pose
from surefit.solvers.boosting.binning import encode, find_bins
from surefit.solvers.boosting.columns import considered, kinds_of
from surefit.solvers.boosting.gradient import Booster, add_scores
from surefit.solvers.boosting.losses import mean_loss, start
from surefit.solvers.boosting.nodes import Columns, Limits
from surefit.solvers.boosting.splits import Rules

MIN_CURVATURE = 1e-3  # smallest Hessian sum of each child, as in scikit-learn
LARGE = 10_000  # number of rows above which early_stopping='auto' stops early


class Targets(NamedTuple):
    """Training targets for the loss."""

    y: np.ndarray  # numbers or codes
    given: np.ndarray  # in the format of the checker
    labels: np.ndarray  # in the format of a scorer
    sample_weight: np.ndarray | None
    weights: np.ndarray  # with class weights
    loss: Any
    name: str
    parameter: float


class Watched(NamedTuple):
    """Rows that are monitored for early stopping."""

    X: np.ndarray
    y: np.ndarray
    labels: np.ndarray
    weights: np.ndarray


def fit_boosting(estimator, X: np.ndarray, targets: Targets, given: Watched | None) -> Any:
    """Fit the trees, set the fitted attributes and issue the certificate. Returns the estimator."""
    again = estimator.warm_start and hasattr(estimator, "_trees")
    if again and estimator.max_iter < estimator.n_iter_:
        who, rounds = type(estimator).__name__, estimator.n_iter_
        raise InvalidParameter(who, "max_iter", f"at least {rounds}, the number of rounds so far", estimator.max_iter)
    random = random_stream(estimator.random_state)
    wanted = estimator.early_stopping
    estimator.do_early_stopping_ = len(X) > LARGE if wanted == "auto" else bool(wanted)
    if not again:  # a warm start holds the same rows out
        vars(estimator).pop("_split_seed", None)
    training: Any
    training, watched = _split(estimator, X, targets, given, random)
    witness = training_witness(targets.weights > 0, training)
    if len(training) == len(X):
        training = slice(None)  # no copies
    Xt, y, s = X[training], targets.y[training], targets.weights[training]
    if not again:
        categorical = find_categorical(estimator, X)
        estimator._bins = find_bins(Xt, None if _even(s) else s, estimator.max_bins, categorical, estimator.n_jobs)
        estimator.baseline_ = start(targets.loss, y, s)
        forget_rounds(estimator)
    booster = _booster(estimator, Xt, y, s, targets.loss)
    watch = _Watch(estimator, targets.loss, booster, watched, Xt, targets.labels[training])
    reporter = progress_reporter(
        estimator, X, targets.given, task="round", max_subtasks=int(estimator.max_iter), prints=False
    )
    with Budget(estimator.max_iter, estimator.max_time, reporter) as budget:
        reason = run_rounds(estimator, booster, watch, float(np.sum(s)), budget, random, again)
        seconds = budget.seconds
    if reporter is not None:
        reporter.finish()
    loss = mean_loss(targets.loss, y, booster.z, s, (booster.g, booster.h), booster.threads)
    del booster, watch  # their memory is free for the proof
    sample = (X, targets.given, targets.sample_weight)
    return record(estimator, sample, targets.name, loss, reason=reason, seconds=seconds, witness=witness)


def watches(estimator, X_val, y_val) -> bool:
    """Return whether rows for early stopping are given; raise an error if they are incomplete or would not be used."""
    if X_val is None and y_val is None:
        return False
    who = type(estimator).__name__
    if X_val is None or y_val is None:
        given, other = ("y_val", "X_val") if X_val is None else ("X_val", "y_val")
        raise InvalidData(f"{who}: {given} is provided, but {other} was not provided; pass both or neither.")
    if estimator.early_stopping is False:
        words = "'auto' or True if X_val and y_val are passed to fit"
        raise InvalidParameter(who, "early_stopping", words, estimator.early_stopping)
    return True


def forget_rounds(estimator) -> None:
    """Discard the rounds of an earlier fit."""
    estimator._trees, estimator._log = [], []
    estimator.train_score_, estimator.validation_score_ = np.empty(0), np.empty(0)


def run_rounds(estimator, booster, watch, total: float, budget: Budget, random, again: bool) -> Reason:
    """Add rounds until ``max_iter``, early stopping or the budget ends the fit; ``total`` is the training weight."""
    reason = Reason.MAX_ITER if len(estimator._trees) >= estimator.max_iter else None
    if watch.active and not again:
        watch.look()
    while reason is None:
        trees, loss = booster.step(random)
        estimator._log.append(loss / total)
        estimator._trees.append(trees)
        if estimator.verbose:
            print(f"{type(estimator).__name__}: round {len(estimator._trees)}, loss before it {loss / total:.6g}")
        if watch.active and watch.look(trees):
            reason = Reason.CONVERGED
        reason = reason or budget.spent(len(estimator._trees), loss / total)
    return reason


def record(estimator, sample, name: str, loss: float, *, reason: Reason, seconds: float, witness: dict) -> Any:
    """Set the fitted attributes and issue the certificate; ``loss`` is the mean loss after the last round."""
    estimator.n_iter_ = len(estimator._trees)
    estimator.training_losses_ = np.array([*estimator._log[: estimator.n_iter_], loss])
    if reason not in (Reason.CONVERGED, Reason.MAX_ITER):
        warn(
            f"{type(estimator).__name__}: stopped after {estimator.n_iter_} of {estimator.max_iter} rounds: {reason.sentence()}.",
            ConvergenceWarning,
        )
    estimator.loss_name_, estimator.monotone_signs_ = name, monotone_signs(estimator, sample[0].shape[1])
    chosen = ("loss_name_", "monotone_signs_")
    bins = ("bin_cuts_", "n_bins_", "is_categorical_", "baseline_")
    packed = ("tree_starts_", *(f"tree_{part}_" for part in PACKED), *bins, *chosen)
    estimator._issue(
        "B",
        make_claims(witness, estimator.monotone_signs_),
        problem=pose(estimator, *sample, *chosen),
        model=(*packed, "classes_") if hasattr(estimator, "classes_") else packed,
        sample=sample,
        run={
            "solver": "histograms of gradients",
            "reason": str(reason),
            "passes": int(estimator.n_iter_),
            "seconds": float(seconds),
        },
    )
    return estimator


def _even(s: np.ndarray) -> bool:
    return bool(np.all(s == s[0]))


def _split(estimator, X, targets: Targets, given: Watched | None, random) -> tuple[np.ndarray, Watched | None]:
    """Return the rows for training and the rows for monitoring. Rows of weight zero are dropped."""
    rows = np.flatnonzero(targets.weights > 0)
    if given is not None and estimator.do_early_stopping_:
        return rows, given
    if not estimator.do_early_stopping_ or estimator.validation_fraction is None:
        return rows, None
    if not hasattr(estimator, "_split_seed"):
        estimator._split_seed = int(random.randint(2**32 - 1, dtype=np.uint64))  # as in scikit-learn
    codes = targets.y[rows] if hasattr(estimator, "classes_") else None
    try:
        kept, held = train_test_split(
            rows, test_size=estimator.validation_fraction, stratify=codes, random_state=estimator._split_seed
        )
    except ValueError as error:
        who, words = type(estimator).__name__, str(error).split(". ")[0]  # the rest lists every class
        raise InvalidParameter(
            who, "validation_fraction", f"possible ({words})", estimator.validation_fraction
        ) from None
    kept, held = np.sort(kept), np.sort(held)
    return kept, Watched(X[held], targets.y[held], targets.labels[held], targets.weights[held])


def _booster(estimator, X, y, s, loss) -> Booster:
    words = encode(X, estimator._bins, estimator.n_jobs)
    z = np.tile(estimator.baseline_[:, None], (1, len(y)))
    for k in range(len(z)):
        add_scores(words, [trees[k] for trees in estimator._trees], z[k], estimator.n_jobs)
    return Booster(
        columns_of(estimator, words),
        np.ascontiguousarray(y, dtype=np.float64),
        np.ascontiguousarray(s, dtype=np.float64),
        z,
        loss,
        **settings(estimator),
        n_jobs=estimator.n_jobs,
    )


def columns_of(estimator, words: np.ndarray) -> Columns:
    """Return the binned columns with the constraints given by the parameters."""
    bins, d = estimator._bins, estimator.n_features_in_
    signs = monotone_signs(estimator, d)
    if np.any((signs != 0) & bins.categorical):
        raise InvalidParameter(
            type(estimator).__name__, "monotonic_cst", "0 for categorical columns", estimator.monotonic_cst
        )
    return Columns(
        words,
        np.ascontiguousarray(words.T),
        bins.n_bins,
        bins.has_missing,
        signs,
        kinds_of(bins.categorical),
        considered(interaction_groups(estimator, d), max(1, int(estimator.max_features * d))),
    )


def settings(estimator) -> dict[str, Any]:
    """Return the regularization, limits and learning rate given by the parameters."""
    depth = 2**31 - 1 if estimator.max_depth is None else int(estimator.max_depth)
    return {
        "rules": Rules(float(estimator.l2_regularization), int(estimator.min_samples_leaf), MIN_CURVATURE),
        "limits": Limits(int(estimator.max_leaf_nodes or 0), depth, 0.0),
        "rate": float(estimator.learning_rate),
    }


class Watch(ABC):
    """Monitor of the scores after each round, on the training rows or on held-out rows, for early stopping."""

    estimator: Any
    active: bool

    @abstractmethod
    def scores(self, trees) -> tuple[float, float | None]:
        """Return the scores on the training rows and, if there are any, on held-out rows, after one more round."""

    def look(self, trees=None) -> bool:
        """Record the scores; return True if there was no progress for ``n_iter_no_change`` rounds."""
        e = self.estimator
        train, held = self.scores(trees)
        scores = e.train_score_ = np.append(e.train_score_, train)
        if held is not None:
            scores = e.validation_score_ = np.append(e.validation_score_, held)
        last = e.n_iter_no_change + 1
        if len(scores) < last:
            return False
        reference = scores[-last] + e.tol
        return not np.any(scores[-last + 1 :] > reference)


class _Watch(Watch):
    """Monitor of the scores on rows in memory."""

    def __init__(self, estimator, loss, booster: Booster, watched: Watched | None, X, labels):
        self.active = estimator.do_early_stopping_
        self.estimator, self.loss, self.booster, self.watched, self.X, self.labels = (
            estimator,
            loss,
            booster,
            watched,
            X,
            labels,
        )
        self.by_loss = estimator.scoring == "loss"
        if not self.active:
            return
        self.scorer = None if self.by_loss else check_scoring(estimator, estimator.scoring)
        if watched is not None:
            self.words = encode(watched.X, estimator._bins, estimator.n_jobs)
            self.z = np.tile(estimator.baseline_[:, None], (1, len(watched.y)))
            for trees in estimator._trees:
                self._move(trees)

    def _move(self, trees) -> None:
        for k, tree in enumerate(trees):
            add_scores(self.words, [tree], self.z[k], self.estimator.n_jobs)

    def scores(self, trees) -> tuple[float, float | None]:
        """Return the scores on the training rows and on held-out rows after one more round."""
        if trees is not None and self.watched is not None:
            self._move(trees)
        b, w, held = self.booster, self.watched, None
        train = -mean_loss(self.loss, b.y, b.z, b.s) if self.by_loss else self._scored(self.X, self.labels, b.s)
        if w is not None:
            held = (
                -mean_loss(self.loss, w.y, self.z, w.weights)
                if self.by_loss
                else self._scored(w.X, w.labels, w.weights)
            )
        return train, held

    def _scored(self, X, labels, weights) -> float:
        assert self.scorer is not None
        nameless = object.__new__(type(self.estimator))  # the rows are an array here, without column names
        nameless.__dict__.update(vars(self.estimator))
        nameless.__dict__.pop("feature_names_in_", None)
        return float(self.scorer(nameless, X, labels, sample_weight=None if _even(weights) else weights))
