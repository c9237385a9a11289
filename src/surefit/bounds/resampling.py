r"""Bounds from cross-validation, and from a tested model for a model refitted on all rows."""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.bounds.base import ROUND_OUT, RiskBound, check_count, check_delta
from surefit.bounds.binomial import clopper_pearson, clopper_pearson_interval
from surefit.bounds.progressive import error_limit
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT


def k_fold(errors: Any, sizes: Any, delta: float = 0.05) -> RiskBound:
    r"""Bound the mean risk of the k models of a k-fold cross-validation by their errors on the left-out folds.

    With :math:`\hat q` the mean of the k fold error rates, :math:`m` the size of the smallest fold and :math:`G` declared
    :math:`\lambda`,

    .. math:: \frac1G \sum_\lambda \exp\bigl(m [-\lambda \hat q - \ln(1 - \bar p (1 - e^{-\lambda}))]\bigr) \le \frac1\delta .

    Guarantee: with probability at least ``1 - delta``. The confidence term counts the rows of *one* fold, not all rows, because the
    errors of the folds are dependent (theory: :ref:`k-fold`). The bound is about a fold model drawn at random, not about a refit.

    Parameters
    ----------
    errors : sequence of int
        Errors on each fold, by the model that was not trained on it.
    sizes : sequence of int
        Number of rows of each fold.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import k_fold
    >>> round(k_fold([52, 48], [500, 500]).value, 4), round(k_fold([10] * 10, [100] * 10).value, 4)
    (0.1448, 0.2082)
    """
    check_delta("k_fold", delta)
    wrong, rows = np.asarray(errors), np.asarray(sizes)
    if wrong.ndim != 1 or wrong.shape != rows.shape or len(rows) < 2:
        raise InvalidData(
            "k_fold: errors and sizes must be two lists of the same length, one entry for each of >= 2 folds."
        )
    for k, n in zip(wrong.tolist(), rows.tolist(), strict=True):
        check_count("k_fold", k, n)
    mean, smallest = math.fsum(wrong / rows) / len(rows), int(rows.min())
    return RiskBound(
        "k_fold",
        error_limit(mean, smallest, smallest, delta),
        delta,
        "mean risk of the fold models",
        ("iid", "folds_drawn_independently_of_rows"),
        inputs={"empirical": mean, "n": smallest, "folds": len(rows)},
        terms={"empirical": mean},
    )


def transfer(errors: int, n: int, disagreements: int, n_unlabeled: int, delta: float = 0.05) -> RiskBound:
    r"""Return the risk bound of a model trained on *all* rows, from a tested model and new inputs without labels.

    .. math:: R(h) \le R(h_1) + P(h \ne h_1) \le \mathrm{CP}(k_1, n_2, \delta/2) + \mathrm{CP}(\#\{h \ne h_1\}, \#U, \delta/2).

    Guarantee: with probability at least ``1 - delta`` for any :math:`h`, if the inputs U follow the distribution of the rows and took no
    part in training (theory: :ref:`concentration`).

    Parameters
    ----------
    errors, n : int
        Errors of the tested model :math:`h_1` on rows that it did not see.
    disagreements, n_unlabeled : int
        Number of inputs of U on which the two models differ, and size of U.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import transfer
    >>> round(transfer(12, 400, 30, 5000).value, 4)
    0.0604
    """
    check_delta("transfer", delta)
    check_count("transfer", errors, n)
    check_count("transfer", disagreements, n_unlabeled)
    tested = clopper_pearson(errors, n, delta / 2)
    change = clopper_pearson(disagreements, n_unlabeled, delta / 2)
    return RiskBound(
        "transfer",
        min(1.0, (tested + change) * (1 + ROUND_OUT)),
        delta,
        "risk of the model trained on all rows",
        ("iid", "rows_untouched", "unlabeled_same_distribution"),
        inputs={
            "errors": int(errors),
            "n": int(n),
            "disagreements": int(disagreements),
            "n_unlabeled": int(n_unlabeled),
        },
        terms={"twin": tested, "change": change},
    )


@dataclass(frozen=True)
class RiskSplit:
    """Risk as the sum of training risk and generalization gap, with intervals from the hold-out rows.

    Examples
    --------
    >>> from surefit.bounds import risk_split
    >>> split = risk_split(2, 100, 10, 100)
    >>> split.train, split.test, [round(end, 3) for end in split.gap]
    (0.02, 0.1, [0.029, 0.156])
    """

    train: float
    test: float
    risk: tuple[float, float]
    gap: tuple[float, float]
    delta: float

    @property
    def overfits(self) -> bool:
        """Whether the gap is positive beyond the uncertainty of the hold-out set."""
        return self.gap[0] > 0


def risk_split(train_errors: int, n_train: int, test_errors: int, n_test: int, delta: float = 0.05) -> RiskSplit:
    r"""Split a risk into training risk and gap, :math:`R = \hat R + (R - \hat R)`, with Clopper-Pearson intervals.

    Guarantee: both intervals cover simultaneously with probability at least ``1 - delta``, for a model that saw none of the test rows
    (theory: :ref:`concentration`).

    Examples
    --------
    >>> from surefit.bounds import risk_split
    >>> split = risk_split(2, 400, 30, 200)
    >>> [round(limit, 3) for limit in split.gap], split.overfits
    ([0.099, 0.202], True)
    """
    check_count("risk_split", train_errors, n_train)
    low, high = clopper_pearson_interval(test_errors, n_test, delta)
    train = train_errors / n_train
    return RiskSplit(train, test_errors / n_test, (low, high), (low - train, high - train), delta)


def holdout_size(n: int) -> int:
    """Return the number of rows to hold out of n: a fifth, at least 200 (or half), at most 5000.

    Examples
    --------
    >>> from surefit.bounds import holdout_size
    >>> [holdout_size(n) for n in (100, 600, 2000, 100_000)]
    [50, 200, 400, 5000]
    """
    if not COUNT.allows(n) or n < 2:
        raise InvalidParameter("holdout_size", "n", "an integer >= 2", n)
    return int(min(max(n // 5, min(200, n // 2)), 5000))
