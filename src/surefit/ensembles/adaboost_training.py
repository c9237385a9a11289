"""Fitting of AdaBoost from parameters and labels, and its certificate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.utils.validation import has_fit_parameter

from surefit.core.blocks import dense_rows, require_memory
from surefit.core.budget import Budget
from surefit.core.callbacks import progress_reporter
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.threads import blas_threads
from surefit.ensembles.adaboost_statement import make_claims
from surefit.ensembles.labels import Labeled, read_labeled
from surefit.ensembles.members import predicted_codes, random_stream, seeded_copy
from surefit.ensembles.stump import DecisionStump
from surefit.solvers.boosting.adaboost import Learner, StumpLearner, boost


def fit_adaboost(estimator, X, y, sample_weight) -> Any:
    """Run the rounds, set the fitted attributes and issue the certificate. Returns the estimator."""
    stumps = estimator.estimator is None or type(estimator.estimator) is DecisionStump
    data = read_labeled(estimator, X, y, sample_weight, accept_sparse="csr")
    used = data.counted
    n_classes = len(data.classes)
    shares = used.shares
    learn: Learner = _stump_learner(estimator, used) if stumps else _member_learner(estimator, used)
    extra = math.log(n_classes - 1) if estimator.algorithm == "samme" and n_classes > 2 else 0.0
    wanted = estimator.stop_bound
    stop_bound = 0.0 if wanted is None else float(np.min(shares)) if wanted == "zero" else float(wanted)
    reporter = progress_reporter(estimator, used.X, used.y, task="round", max_subtasks=int(estimator.n_estimators))
    with Budget(estimator.n_estimators, estimator.max_time, reporter) as budget:
        options: dict[str, Any] = {
            "rate": float(estimator.learning_rate),
            "extra": extra,
            "stop_bound": stop_bound,
            "budget": budget,
        }
        try:
            rounds = boost(learn, used.codes, shares, n_classes, **options)
        except OverflowError as error:
            words = f"smaller, because {error} and weights overflow"
            raise InvalidParameter(type(estimator).__name__, "learning_rate", words, estimator.learning_rate) from None
        seconds = budget.seconds
    if reporter is not None:
        reporter.finish()
    if not rounds.log:
        raise InvalidData(
            f"{type(estimator).__name__}: the first base classifier is no better than chance on these rows, so boosting "
            "cannot start; use a richer base classifier, such as a tree of depth 2."
        )
    estimator.classes_, estimator.n_classes_ = data.classes, n_classes
    members = [entry.member for entry in rounds.log]
    estimator.estimator_ = DecisionStump() if stumps else estimator.estimator
    estimator.estimators_ = [_as_estimator(member, estimator, data) for member in members] if stumps else members
    estimator.estimator_weights_ = np.array([entry.alpha for entry in rounds.log])
    estimator.estimator_errors_ = np.array([entry.error for entry in rounds.log])
    estimator.bounds_ = np.cumprod([entry.Z for entry in rounds.log])
    estimator.training_errors_ = np.array([entry.training_error for entry in rounds.log])
    estimator.stop_reason_ = str(rounds.reason)
    if not stumps and used is not data:  # the certificate covers all rows, including those of weight zero
        rounds = rounds._replace(said=[predicted_codes(member, data.X, data.classes) for member in members])
    _certify(estimator, data, used, rounds, stumps, seconds)
    return estimator


def _stump_learner(estimator, used: Labeled) -> Learner:
    require_memory(type(estimator).__name__, used.X, 16, "use fewer columns, or another base classifier")
    dense = dense_rows(used.X, 0, used.X.shape[0])
    return StumpLearner(dense, used.codes, len(used.classes), blas_threads())


def _member_learner(estimator, used: Labeled) -> Learner:
    if not has_fit_parameter(estimator.estimator, "sample_weight"):
        name = type(estimator.estimator).__name__
        raise InvalidParameter(type(estimator).__name__, "estimator", "a classifier that takes sample_weight", name)
    random, labels = random_stream(estimator.random_state), used.classes[used.codes]

    def learn(D: np.ndarray) -> tuple[Any, np.ndarray]:
        member = seeded_copy(estimator.estimator, random)
        member.fit(used.X, labels, sample_weight=D * len(D))  # weights with mean one, for learners with a penalty
        return member, predicted_codes(member, used.X, used.classes)

    return learn


def _as_estimator(stump, estimator, data: Labeled) -> DecisionStump:
    member = DecisionStump()
    member._set(stump, data.classes)
    member.n_features_in_ = estimator.n_features_in_
    return member


def _certify(estimator, data: Labeled, used: Labeled, rounds, stumps: bool, seconds: float) -> None:
    n_classes = len(data.classes)
    textbook = estimator.learning_rate == 1 and (n_classes <= 2 or estimator.algorithm == "m1")
    perfect = rounds.log[0].error == 0.0
    leads = (2.0 * used.codes - 1) * (rounds.votes[:, -1] - rounds.votes[:, 0])  # margins, for two classes
    estimator._issue(
        "A",
        make_claims(
            rounds,
            n_classes=n_classes,
            n=len(data.codes),
            textbook=textbook and not perfect,
            stumps=stumps,
            smallest_margin=float(np.min(leads) / estimator.estimator_weights_.sum()),
        ),
        problem={},
        model=(
            "estimator_weights_",
            "classes_",
            *(("stump_features_", "stump_thresholds_", "stump_labels_") if stumps else ()),
        ),
        sample=(data.X, data.y, data.weights),
        run={
            "solver": "AdaBoost",
            "reason": str(rounds.reason),
            "passes": len(rounds.log),
            "seconds": float(seconds),
        },
    )
