"""Checks of hyperparameter searches: errors of the fold models, the folds, and the correction for the comparison."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from surefit.checks.bounds import CONFIRM
from surefit.checks.judge import Digits, Proof, claim, refused
from surefit.checks.risk.answers import labels_of
from surefit.checks.risk.marked import IN_MEMORY, answered, by_marks, mark_tags
from surefit.checks.risk.split import split_trouble, unit_codes, unit_means, unit_tags
from surefit.checks.risk.words import assumptions_of, confidence_text, sentence
from surefit.core.catalog import Entry, register
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.marks import MOST_TESTED, smallest
from surefit.core.partitioned import PartitionedRows
from surefit.core.rows import take_rows
from surefit.core.sample import Data


def _about(stated: Claim) -> str:
    one = stated.numbers["folds"] == 1
    return (
        "the chosen candidate, fitted on the training part"
        if one
        else "the fold models of the chosen candidate, on average"
    )


def _says(stated: Claim) -> str:
    z = stated.numbers
    empty = ", which is vacuous" if stated.value >= 1 else ""
    strata = " on folds drawn by class" if "classes_known" in z["assumes"] else ""
    return (
        f"probability of error of {_about(stated)} <= {stated.value:.4g} with confidence {confidence_text(z['delta'])}{empty}, after "
        f"comparing {z['candidates']} candidate{'s' if z['candidates'] != 1 else ''}{strata}, {sentence(z['assumes'])}"
    )


register(
    Entry(
        "selection.refit",
        "no_claim",
        "none",
        "no claim about the model refitted on all rows: the candidate's fold models were tested, not the refit",
    )
)
register(
    Entry(
        "selection.unclaimed",
        "no_claim",
        "none",
        "no bound is stated for the chosen candidate: the score is not an error rate, or the rows or folds do "
        "not allow a bound (see the attribute unclaimed_)",
    )
)


@claim(
    "selection.search", kind="risk_bound", side="upper", high=1.0, says=_says, about=_about, assumptions=assumptions_of,
    theory="k-fold", partitioned=True,
)  # fmt: skip
def search(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Confirm the limit from the errors of the chosen candidate's fold models at its share of delta."""
    subject = certificate.subject
    if subject is None:
        return refused("this claim needs predictions of the search; pass verify(X, y, model=...)")
    tested = _tested(certificate, subject, data)
    if isinstance(tested, str):
        return refused(tested)
    means, part, log_weight, tags = tested
    delta, candidates = _delta(certificate), len(subject.cv_results_["params"])
    spent = delta / candidates * math.exp(log_weight)
    counts: dict[str, Any]
    if len(means) == 1 and part == 0 and "groups_iid" not in tags:
        name, counts, more = "holdout", {"n": len(means[0]), "errors": int(np.rint(means[0].sum()))}, "rows_untouched"
    else:
        mean = math.fsum(float(fold.mean()) for fold in means) / len(means)
        name, counts = "k_fold", {"n": min(map(len, means)), "empirical": mean}
        more = "classes_known" if part else "folds_drawn_independently_of_rows"
    evidence = CONFIRM[name](stated.value, {**counts, "delta": spent}, {})
    if not evidence.ok:
        return refused("the limit does not follow from the errors at this share of delta")
    numbers = {key: Digits(value) if key == "empirical" else value for key, value in counts.items()}
    numbers |= {"candidates": candidates, "folds": len(means), "delta": delta, "assumes": [*tags, more]}
    rows = sum(map(len, subject.fold_rows_ if by_marks(subject) else [test for _, test in subject.splits_]))
    return Proof(
        stated.value, evidence.level, f"the limit follows from the errors counted on {rows} held-out rows.", numbers
    )


def _tested(certificate: Certificate, subject: Any, data: Data) -> Any:
    """Return the unit errors of each fold, the class share of a fold, the log factor of delta, and the assumptions."""
    assume = tuple(certificate.params["assume"])
    if by_marks(subject):
        trouble = _marked_trouble(subject, assume, data)
        parts = zip(subject.fold_models_, subject.fold_rows_, strict=True)
        return trouble or (
            [answered(data, rows, _wrong_at, model) for model, rows in parts],
            Fraction(0),
            0.0,
            (*mark_tags(assume), *assume),
        )
    if isinstance(data.X, PartitionedRows):
        return IN_MEMORY
    codes = unit_codes(subject, assume, data)
    trouble = _fold_trouble(subject, codes, data)
    if trouble:
        return trouble
    folds = zip(subject.fold_models_, subject.splits_, strict=True)
    means = [_errors(model, test, codes, data) for model, (_, test) in folds]
    part = _share_by_class(subject, data)
    return means, part, _mean_log_weight(subject, data, part), (*unit_tags(subject, codes), *assume)


def _marked_trouble(subject: Any, assume: tuple[str, ...], data: Data) -> str:
    """Redraw the tested rows of each fold from ``cv``; return why they differ, or an empty string."""
    cv, tested, seed = subject.cv, subject.fold_rows_, int(subject.split_seed_)
    count = 5 if cv is None else int(getattr(cv, "n_splits", cv))
    given = 0 if cv is None or isinstance(cv, (int, np.integer)) or cv.random_state is None else cv.random_state
    if len(tested) != count or len(subject.fold_models_) != count:
        return "there is not one model per fold"
    if isinstance(given, (int, np.integer)) and int(given) != seed:
        return "the folds are not those of cv"
    y = None if isinstance(data.X, PartitionedRows) else data.target
    found = smallest(data.X, y, seed, MOST_TESTED, "equal_rows_are_draws" not in assume, count)
    for own, rows in zip(found, tested, strict=True):
        if not len(rows) or not np.array_equal(np.sort(own.rows), rows):
            return "the tested rows are not those that the seed draws"
    return ""


def _wrong_at(table: Any, y: np.ndarray, model: Any) -> np.ndarray:
    return (labels_of(model.predict(table)) != labels_of(y)).astype(np.float64)


@claim(
    "selection.random_draws", kind="uncertainty", side="upper", high=1.0, about="the search", assumptions=("independent_draws",),
    theory="k-fold", partitioned=True,
    says=lambda c: f"one of the {c.numbers['draws']} draws is among the best {c.value:.4g} of the search space with confidence "
    f"{confidence_text(c.numbers['delta'])}, if the draws are independent",
)  # fmt: skip
def random_draws(certificate: Certificate, stated: Claim, data: Data) -> Proof:
    """Check the fraction of the search space that all draws miss with probability delta."""
    subject = certificate.subject
    if subject is None:
        return refused("this claim needs the draws of the search; pass verify(X, y, model=...)")
    draws, delta = len(subject.cv_results_["params"]), _delta(certificate)
    value = -math.expm1(math.log(delta) / draws)
    note = f"all {draws} draws miss it with probability {delta:.4g}."
    return Proof(value, "enclosed", note, {"draws": draws, "delta": delta}, spread=1e-14 * value)


def _delta(certificate: Certificate) -> float:
    """Return the failure probability of each statement; a randomized search makes two statements."""
    return (1.0 - certificate.params["confidence"]) / (2 if certificate.estimator == "RandomizedSearchCV" else 1)


def _errors(model: Any, test: np.ndarray, codes: np.ndarray, data: Data) -> np.ndarray:
    wrong = labels_of(model.predict(take_rows(data.given, test))) != labels_of(data.target[test])
    return unit_means(wrong.astype(np.float64), codes[test])


def _fold_trouble(subject: Any, codes: np.ndarray, data: Data) -> str:
    """Return why the folds are invalid (repeated rows, tested training rows, or folds not from ``cv``)."""
    splits = subject.splits_
    if len(splits) != len(subject.fold_models_):
        return "there is not one model per fold"
    trouble = split_trouble(codes, np.concatenate([test for _, test in splits]), None)
    for train, test in splits:
        trouble = trouble or split_trouble(codes, test, train)
    if trouble:
        return trouble
    if subject.cv is None or isinstance(subject.cv, (int, np.integer)):  # these folds follow from the labels
        splitter = check_cv(subject.cv, data.y, classifier=is_classifier(subject._base()))
        own = [test for _, test in splitter.split(data.X, data.y)]
        if len(own) != len(splits) or any(
            not np.array_equal(np.sort(a[1]), b) for a, b in zip(splits, own, strict=True)
        ):
            return "the folds are not those of the splitter"
    return ""


def _share_by_class(subject: Any, data: Data) -> Fraction:
    """Return the share of each class that a fold should get; zero if folds were drawn independently of the classes."""
    splitter = check_cv(subject.cv, data.y, classifier=is_classifier(subject._base()))
    if "Stratified" not in type(splitter).__name__:
        return Fraction(0)
    if type(splitter).__name__ == "StratifiedKFold":
        return Fraction(1, len(subject.splits_))
    return Fraction(len(subject.splits_[0][1]), data.X.shape[0])


def _mean_log_weight(subject: Any, data: Data, part: Fraction) -> float:
    """Return the mean log factor of delta for folds drawn by class."""
    if part == 0:
        return 0.0
    codes = np.unique(data.target, return_inverse=True)[1]
    logs = [_log_weight(codes, test, part) for _, test in subject.splits_]
    return math.fsum(logs) / len(logs)


def _log_weight(codes: np.ndarray, tested: np.ndarray, part: Fraction) -> float:
    r"""Return the log factor of delta for a fold drawn by class, at most 0.

    The factor is the probability that a fold drawn without labels has these class counts, divided by the largest
    probability of these classes under any distribution and by the number of class counts that also keep the shares.
    """
    counts, fold = np.bincount(codes), np.bincount(codes[tested], minlength=codes.max() + 1)
    n, m = len(codes), len(tested)
    ways, log_ways, least = np.array([1.0]), 0.0, 0  # ways[i]: folds of the classes so far with least + i rows
    for total, k in zip(counts.tolist(), fold.tolist(), strict=True):
        rest = total - k
        first, last = (rest * part - 1) / (1 - part), (rest * part + 1) / (1 - part)
        fair = [a for a in range(max(0, math.floor(first)), math.ceil(last) + 1) if first < a < last]
        if k not in fair:
            return -math.inf
        ways, least = np.convolve(ways, np.ones(len(fair))), least + fair[0]
        log_ways += math.log(ways.max())
        ways /= ways.max()  # avoids overflow for many classes
    hypergeometric = math.fsum(
        _log_choose(a, b) for a, b in zip(counts.tolist(), fold.tolist(), strict=True)
    ) - _log_choose(n, m)
    ends = np.concatenate([[0], np.cumsum(fold)]).tolist()
    distribution = math.fsum(_log_choose(high, high - low) for low, high in pairwise(ends))  # arrangements of the fold
    distribution += math.fsum(k * math.log(k / m) for k in fold.tolist() if k)
    return min(0.0, hypergeometric - distribution - log_ways - math.log(ways[m - least]))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
