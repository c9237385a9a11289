r"""Checks of AdaBoost by recomputing its weights: exponential loss, edges, margins, and the stumps of every round.

The votes of stumps on the training rows are recomputed here; those of other learners are stored in the witness. With
:math:`\ell_i = \sum_m \alpha_m \mathbf 1\{h_m(x_i) \ne y_i\}` and :math:`A = \sum_m \alpha_m`, the mean of
:math:`e^{\ell_i - A/2}` is :math:`\prod_m Z_m` (theory: ``adaboost-product``). Weights are normalized in every round,
so after m rounds the relative error of each weight is at most :math:`\gamma_{8m}`.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from surefit.checks.enclosure import gamma
from surefit.checks.ensembles.stump import SortedColumns, largest_edge, least_error, sort_columns
from surefit.checks.judge import AtLeast, AtMost, Proof, claim, shared
from surefit.checks.labels import label_codes, row_weights
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.jit import compiled
from surefit.core.sample import Data
from surefit.core.text import counted
from surefit.core.threads import blas_threads, map_blocks

ENTRIES = 2**18  # votes in a block, which threads share


class Run(NamedTuple):
    """Votes of a run on the rows of positive weight."""

    said: np.ndarray  # (rounds, rows) codes
    codes: np.ndarray
    n_classes: int
    alphas: np.ndarray
    shares: np.ndarray
    rows: np.ndarray  # row indices in the training data


class Replay(NamedTuple):
    """Weighted errors of the members of a run, recomputed from its votes."""

    errors: np.ndarray  # weighted error of each member in its own round
    half: np.ndarray  # the same under the weights of the next round
    doubt: float  # rounding in both


@shared
def _run(certificate: Certificate, data: Data) -> Run:
    model, alphas = certificate.model, np.asarray(certificate.model["estimator_weights_"], dtype=np.float64)
    codes, n_classes = label_codes(certificate, data)
    weights = row_weights(data)
    rows = np.flatnonzero(weights > 0)
    if alphas.ndim != 1 or not len(alphas) or not np.all(np.isfinite(alphas)) or not np.all(alphas > 0):
        raise ValueError("the weights of the members must be positive numbers")
    if "stump_features_" in model:
        said = _stumps_say(model, data, rows, len(alphas), n_classes)
    else:
        said = _table(certificate, len(codes), len(alphas), n_classes)[:, rows]
    shares = weights[rows] / math.fsum(weights)
    return Run(said, codes[rows], n_classes, alphas, shares, rows)


def _dense(X: Any) -> np.ndarray:
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def _stumps_say(model: dict[str, Any], data: Data, rows: np.ndarray, m: int, n_classes: int) -> np.ndarray:
    features, thresholds, labels = (
        np.asarray(model[f"stump_{name}_"]) for name in ("features", "thresholds", "labels")
    )
    if features.shape != (m,) or thresholds.shape != (m,) or labels.shape != (m, 2):
        raise ValueError("there must be one stump per weight")
    if features.min() < 0 or features.max() >= data.X.shape[1]:
        raise ValueError("a stump cuts a column that does not exist")
    if labels.min() < 0 or labels.max() >= n_classes or np.isnan(thresholds).any():
        raise ValueError("a stump predicts a class that does not exist, or has no threshold")
    used, place = np.unique(features, return_inverse=True)
    columns = np.ascontiguousarray(_dense(data.X[:, used]).T[:, rows], dtype=np.float64)
    cuts, labels = np.asarray(thresholds, dtype=np.float64), labels.astype(np.int16)
    said = np.empty((m, len(rows)), dtype=np.int16)

    def say(start: int, stop: int) -> None:
        _say(columns, place[start:stop], cuts[start:stop], labels[start:stop], said[start:stop])

    map_blocks(say, m, max(1, ENTRIES // max(1, len(rows))), blas_threads())
    return said


@compiled
def _say(columns: Any, place: Any, thresholds: Any, labels: Any, said: Any) -> None:
    for m in range(len(place)):
        column, cut, left, right = columns[place[m]], thresholds[m], labels[m, 0], labels[m, 1]
        for i in range(len(column)):
            said[m, i] = left if column[i] <= cut else right


def _table(certificate: Certificate, n: int, m: int, n_classes: int) -> np.ndarray:
    """Return the votes of members that are not stumps, from the witness."""
    table = np.asarray(certificate["adaboost.product"].witness["votes"])
    said = np.unpackbits(table, axis=1, count=n) if n_classes <= 2 else table
    if said.shape != (m, n) or said.min() < 0 or said.max() >= n_classes:
        raise ValueError("the table of votes must have one line per member and one class per row")
    return said.astype(np.int16)


@compiled
def _reweigh(D: Any, said: Any, codes: Any, wrong: Any, right: Any, next_said: Any) -> tuple[Any, Any]:
    """Update the weights after a round; return the weight of the next member's misclassified rows, and of all rows."""
    lost = total = 0.0
    factors = (right, wrong)
    for i in range(len(D)):  # without branches, because the misclassified rows are hard to predict
        D[i] *= factors[1 if said[i] != codes[i] else 0]
        total += D[i]
        lost += D[i] * (1.0 if next_said[i] != codes[i] else 0.0)
    return lost, total


def _votes(run: Run) -> np.ndarray:
    votes = np.zeros((len(run.codes), run.n_classes))

    def add(start: int, stop: int) -> None:
        _add_votes(run.said[:, start:stop], run.alphas, votes[start:stop])

    map_blocks(add, len(votes), max(1, ENTRIES // max(1, len(run.alphas))), blas_threads())
    return votes


@compiled
def _add_votes(said: Any, alphas: Any, votes: Any) -> None:
    for m in range(len(alphas)):
        for i in range(len(votes)):
            votes[i, said[m, i]] += alphas[m]


@shared
def _replay(certificate: Certificate, data: Data) -> Replay:
    run = _run(certificate, data)
    errors, half = np.empty(len(run.alphas)), np.empty(len(run.alphas))
    for m, _, lost, total in _weights(run):
        errors[m] = lost / total
        up = errors[m] * math.exp(run.alphas[m])
        half[m] = up / (up + 1 - errors[m])
    return Replay(errors, half, gamma(len(run.codes) + 8 * len(run.alphas) + 16) * 4)


def _weights(run: Run) -> Iterator[Any]:
    """Yield (round, row weights, weight of the misclassified rows, total weight); the array is updated in place."""
    D, said = run.shares.copy(), run.said
    lost, total = _reweigh(D, said[0], run.codes, 1.0, 1.0, said[0])
    for m, alpha in enumerate(run.alphas):
        yield m, D, lost, total
        if m + 1 < len(said):
            up = math.exp(alpha)
            scale = 1.0 / (lost * up + (total - lost))
            lost, total = _reweigh(D, said[m], run.codes, up * scale, scale, said[m + 1])


@claim(
    "adaboost.product",
    kind="process_fact",
    side="upper",
    theory="adaboost-product",
    says="The mean exponential loss, which is the product of {rounds} normalizers, is at most {value:.6g}; the training error is not "
    "larger.",
)
def product(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the mean exponential loss from the votes."""
    run = _run(certificate, data)
    own, _, total = _margins(certificate, data)
    found = math.fsum(run.shares * np.exp((total - own) - total / 2))
    doubt = found * (2 * total * gamma(2 * len(run.alphas) + 8) + gamma(16)) * 1.01
    return Proof(
        found + doubt, numbers={"rounds": len(run.alphas)}, spread=doubt, note=f"mean exponential loss {found:.9g}."
    )


@claim(
    "adaboost.training_error",
    kind="data_fact",
    side="upper",
    high=1.0,
    theory="adaboost-product",
    says="The training error is {value:.6g} (ties counted as errors).",
)
def training_error(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Count the rows whose label does not have more votes than every other label, beyond rounding."""
    run = _run(certificate, data)
    own, rivals, total = _margins(certificate, data)
    tied = own - rivals <= 2 * gamma(len(run.alphas) + 2) * total
    found = min(math.fsum(run.shares[tied]) * (1 + gamma(8)), 1.0)
    return Proof(found, note=f"{counted(int(np.count_nonzero(tied)), 'row is', 'rows are')} misclassified or tied.")


@shared
def _margins(certificate: Certificate, data: Data) -> tuple[np.ndarray, np.ndarray, float]:
    """Return the votes for each row's label, the most votes for another label, and the sum of all weights."""
    run = _run(certificate, data)
    votes, places = _votes(run), np.arange(len(run.codes))
    own = votes[places, run.codes].copy()
    votes[places, run.codes] = -np.inf
    rivals = np.max(votes, axis=1) if run.n_classes > 1 else np.zeros(len(own))
    return own, rivals, math.fsum(run.alphas)


@claim(
    "adaboost.edges",
    kind="process_fact",
    side="upper",
    theory="adaboost-product",
    says="Every member beats chance by at least {edge:.3g}; the squares of these edges bound the training error by {value:.6g}.",
)
def edges(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the exponential of minus twice the sum of the squared edges."""
    found = _replay(certificate, data)
    gap = 0.5 - found.errors
    bound = math.exp(-2 * math.fsum(gap**2))
    doubt = bound * math.expm1(4 * found.doubt * (math.fsum(np.abs(gap)) + len(gap) * found.doubt) + gamma(16))
    edge = AtLeast(float(np.min(gap)) - found.doubt, found.doubt)
    return Proof(bound + doubt, numbers={"edge": edge}, spread=doubt, note=f"exp(-2 sum of squares) = {bound:.6g}.")


@claim(
    "adaboost.half_weight",
    kind="process_fact",
    side="upper",
    theory="adaboost-product",
    about="the rounds",
    says="Under the weights that follow it, each member errs with weight one half, up to {value:.1g}.",
)
def half_weight(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Evaluate the error of each member under the weights of the next round."""
    found = _replay(certificate, data)
    off = float(np.max(np.abs(found.half - 0.5)))
    return Proof(off + found.doubt, spread=found.doubt, note=f"off by at most {off:.2g}.")


@claim(
    "adaboost.stumps",
    kind="optimality",
    side="upper",
    theory="stump-optimality",
    about="the rounds",
    says="In each of {rounds} rounds no stump had a weighted error smaller than the chosen one's by more than {value:.1g}.",
)
def stumps(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Compare the stump of every round with all other stumps."""
    run, found, columns = _run(certificate, data), _replay(certificate, data), _columns(certificate, data)
    signs, worst = np.where(run.codes == 1, 1.0, -1.0), 0.0
    for m, D, _, _ in _weights(run):
        if run.n_classes == 2:
            least = (1 - largest_edge(columns, signs * D)) / 2
        else:
            least = least_error(columns, run.codes, D, run.n_classes)
        worst = max(worst, float(found.errors[m]) - least)
    doubt = 2 * found.doubt
    note = f"all stumps were tried in each of {len(run.alphas)} rounds."
    return Proof(max(worst, 0.0) + doubt, note=note, numbers={"rounds": len(run.alphas)}, spread=doubt)


@shared
def _columns(certificate: Certificate, data: Data) -> SortedColumns:
    return sort_columns(_dense(data.X)[_run(certificate, data).rows])


@claim(
    "adaboost.margin",
    kind="optimality",
    side="upper",
    theory="adaboost-margin",
    says="The smallest normalized margin is {smallest_margin:.4g}; no vote of stumps has one above {reach:.4g}, "
    "so the margin is within {value:.3g} of the largest possible.",
)
def margin(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound the smallest margin of every vote of stumps by the weights of the round with the largest error."""
    run, found = _run(certificate, data), _replay(certificate, data)
    hardest = int(np.argmax(found.errors))
    D = next(D for m, D, _, _ in _weights(run) if m == hardest)
    reach = largest_edge(_columns(certificate, data), np.where(run.codes == 1, 1.0, -1.0) * D)
    own, rivals, total = _margins(certificate, data)
    smallest, doubt = float(np.min(own - rivals)) / total, 2 * found.doubt
    numbers = {"smallest_margin": AtLeast(smallest - doubt, doubt), "reach": AtMost(reach + doubt, doubt)}
    note = f"smallest margin {smallest:.6g}; the weights of round {hardest + 1} prove that none exceeds {reach:.6g}."
    return Proof(reach - smallest + 2 * doubt, note=note, numbers=numbers, spread=2 * doubt)
