"""Recounts what a search claims: errors from held-out predictions and the targets, folds from the splitter, prices from the classes."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import check_cv

from surefit.checks.base import Data, Finding, checker
from surefit.checks.bounds import CONFIRM, spent
from surefit.checks.risk_answers import labels_of
from surefit.checks.risk_rows import row_keys, take_rows
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

NEAR = 1 + 1e-9


@checker("selection.search")
def check_search(certificate: Certificate, claim: Claim, data: Data) -> Finding:
    """The chosen candidate's held-out predictions give the bound at its share of delta, and none of their rows was trained on."""
    z, w = claim.numbers, claim.witness
    trouble = _fold_trouble(claim, data) or _subject_trouble(certificate, claim, data) or _price_trouble(claim, data)
    if trouble is None:
        trouble = _count_trouble(claim, data)
    evidence = CONFIRM[z["bound"]](claim.value, z, w)
    if trouble is None and not (evidence.ok and claim.confidence == 1.0 - z["delta"]):
        trouble = "the limit does not follow from the errors at this share of delta"
    ok = trouble is None
    asked = (
        "held-out rows"
        if certificate.subject is not None
        else "held-out rows, by the predictions the certificate holds"
    )
    message = f"the limit follows from the errors counted on {len(w['test_rows'])} {asked}." if ok else f"{trouble}."
    return Finding(claim.name, claim.value, claim.value if ok else 1.0, ok, evidence.level, message)


def _fold_trouble(claim: Claim, data: Data) -> str | None:
    """Whether a row was tested twice, or tested and trained on, or is a copy of a row that was."""
    w, n = claim.witness, data.X.shape[0]
    rows, fold = w["test_rows"], w["fold"]
    if len(rows) != len(fold) or len(np.unique(rows)) != len(rows) or rows.min() < 0 or rows.max() >= n:
        return "a row was tested twice, or is not there"
    if not np.array_equal(np.unique(fold), np.arange(claim.numbers.get("folds", 1))):
        return "a fold tests no row"
    groups = "groups_iid" in claim.assumptions  # only the caller knows them: they are believed
    if not groups and "equal_rows_are_draws" not in claim.assumptions and "row_keys" not in data.memo:
        data.memo["row_keys"] = row_keys(data.X, data.y)
    keys = None if groups or "equal_rows_are_draws" in claim.assumptions else data.memo["row_keys"]
    for k in np.unique(fold).tolist():
        tested, train = rows[fold == k], np.flatnonzero(_trained(claim, k, n))
        if np.intersect1d(tested, train).size:
            return "a tested row was trained on"
        if keys is not None and {keys[i] for i in train.tolist()}.intersection(keys[i] for i in tested.tolist()):
            return "a tested row is a copy of a training row"
    return None


def _trained(claim: Claim, k: int, n: int) -> np.ndarray:
    """Which rows the model of fold k was trained on: those named, or all others."""
    if "trained" in claim.witness:
        return claim.witness["trained"][k] != 0
    others = np.ones(n, dtype=bool)
    others[claim.witness["test_rows"][claim.witness["fold"] == k]] = False
    return others


def _subject_trouble(certificate: Certificate, claim: Claim, data: Data) -> str | None:
    """Ask the search, if it is at hand, for its number of candidates, its folds, and its models' predictions."""
    search, w = certificate.subject, claim.witness
    if search is None:
        return None
    if len(search.cv_results_["params"]) != claim.numbers["candidates"]:
        return f"{len(search.cv_results_['params'])} candidates were compared"
    splitter = check_cv(search.cv, data.y, classifier=is_classifier(search._base()))
    by_class = "Stratified" in type(splitter).__name__
    if by_class != (claim.numbers["part"][0] > 0):
        return "the folds were drawn by class, which was not paid for"
    if isinstance(search.cv, int | np.integer | None):  # such folds are not drawn, they follow from the labels
        for k, (_, test) in enumerate(splitter.split(data.X, data.y)):
            if not np.array_equal(test, np.sort(w["test_rows"][w["fold"] == k])):
                return "the folds are not those of the splitter"
    for k, model in enumerate(search.fold_models_):
        mine = w["fold"] == k
        answer = labels_of(model.predict(take_rows(data.given, w["test_rows"][mine])))
        if not np.array_equal(answer, w["predictions"][mine]):
            return "a fold model's predictions are no longer those that were counted"
    return None


def _price_trouble(claim: Claim, data: Data) -> str | None:
    """Whether less was paid for candidates and for folds drawn by class than they cost."""
    z, w = claim.numbers, claim.witness
    part, weight = Fraction(*z["part"]), 1.0
    if part > 0:
        codes = np.unique(data.target, return_inverse=True)[1]
        logs = [_log_weight(codes, w["test_rows"][w["fold"] == k], part) for k in np.unique(w["fold"]).tolist()]
        weight = math.exp(math.fsum(logs) / len(logs))
        if "classes_known" not in claim.assumptions:
            return "the folds were drawn by class, which is not among the assumptions"
    if z["candidates"] < 1 or spent(z) * z["candidates"] > z["delta"] * weight * NEAR:
        return f"{z['candidates']} candidates on these folds spend more than delta"
    return None


def _log_weight(codes: np.ndarray, tested: np.ndarray, part: Fraction) -> float:
    r"""Logarithm of what a fold drawn by class multiplies delta by, at most 0.

    The chance that a blindly drawn fold has these classes, over the largest chance of these classes under any law, over the number of
    folds that would have kept the shares as well.
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
        ways /= ways.max()  # many classes: the numbers themselves overflow
    hypergeometric = math.fsum(
        _log_choose(a, b) for a, b in zip(counts.tolist(), fold.tolist(), strict=True)
    ) - _log_choose(n, m)
    ends = np.concatenate([[0], np.cumsum(fold)]).tolist()
    law = math.fsum(_log_choose(high, high - low) for low, high in pairwise(ends))  # arrangements of the fold
    law += math.fsum(k * math.log(k / m) for k in fold.tolist() if k)
    return min(0.0, hypergeometric - law - log_ways - math.log(ways[m - least]))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def _count_trouble(claim: Claim, data: Data) -> str | None:
    z, w = claim.numbers, claim.witness
    fold, wrong = w["fold"], (w["predictions"] != labels_of(data.target[w["test_rows"]])).astype(np.float64)
    means = []
    for k in np.unique(fold).tolist():
        mine = fold == k
        units = np.unique(w["units"][mine], return_inverse=True)[1] if "units" in w else np.arange(int(mine.sum()))
        means.append(np.bincount(units, weights=wrong[mine]) / np.bincount(units))
    if z["bound"] == "holdout":
        if (z["errors"], z["n"]) != (int(means[0].sum()), len(means[0])) or len(means) != 1:
            return f"the chosen candidate made {int(means[0].sum())} errors on {len(means[0])} rows"
        return None
    mean = math.fsum(float(part.mean()) for part in means) / len(means)
    if z["n"] > min(map(len, means)) or mean > z["empirical"] * NEAR:
        return f"the chosen candidate's mean error is {mean:.6g}, {z['empirical']:.6g} was claimed"
    return None
