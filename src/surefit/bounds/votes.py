r"""Bounds for majority votes from the mean error, from pairs of members, and from disagreement (out-of-bag rows of forests)."""

import math
from typing import Any

import numpy as np

from surefit.bounds.base import ROUND_OUT, RiskBound, check_delta
from surefit.bounds.kl import kl_inverse, kl_inverse_lower
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import COUNT, FRACTION, NON_NEGATIVE


def vote_first_order(mean_error: float, n: int, delta: float = 0.05, divergence: float = 0.0) -> RiskBound:
    r"""Bound the risk of a majority vote by twice the mean risk of its members.

    .. math:: R(\mathrm{vote}) \le 2\, \mathrm{kl}^{-1}\Bigl(\hat q, \frac{\mathrm{KL} + \ln(2\sqrt n / \delta)}{n}\Bigr).

    Guarantee: holds if each member was tested on at least ``n`` rows that it did not see (out of bag), for any number
    of classes, with ties counted as errors (theory: :ref:`majority-vote`).

    Parameters
    ----------
    mean_error : float in [0, 1]
        Mean error of the members on their own test rows, with the weights of the vote.
    n : int
        Smallest number of test rows of any member.
    delta : float in (0, 1)
        Failure probability.
    divergence : float >= 0
        KL divergence of the weights from uniform weights; zero for a plain vote.

    Examples
    --------
    >>> from surefit.bounds import vote_first_order
    >>> round(vote_first_order(0.05, 400).value, 4)
    0.2
    """
    _check("vote_first_order", mean_error, n, delta, divergence)
    member = _upper(mean_error, divergence, n, delta)
    return _vote("vote_first_order", 2 * member, delta, mean_error, n, divergence, {"member": member})


def vote_tandem(tandem_loss: float, n: int, delta: float = 0.05, divergence: float = 0.0) -> RiskBound:
    r"""Bound the risk of a majority vote by four times the probability that two members err together.

    .. math:: R(\mathrm{vote}) \le 4\, \mathrm{kl}^{-1}\Bigl(\hat t, \frac{2\,\mathrm{KL} + \ln(2\sqrt n / \delta)}{n}\Bigr).

    Guarantee: holds if each pair was tested on at least ``n`` rows that neither member saw (theory:
    :ref:`majority-vote`). It improves on :func:`vote_first_order` if members err independently.

    Examples
    --------
    >>> from surefit.bounds import vote_tandem
    >>> round(vote_tandem(0.004, 2000).value, 4)
    0.0486
    """
    _check("vote_tandem", tandem_loss, n, delta, divergence)
    pair = _upper(tandem_loss, 2 * divergence, n, delta)
    return _vote("vote_tandem", 4 * pair, delta, tandem_loss, n, divergence, {"pair": pair})


def vote_c_bound(
    mean_error: float, n: int, disagreement: float, n_pairs: int, delta: float = 0.05, divergence: float = 0.0
) -> RiskBound:
    r"""Bound the risk of a binary majority vote from mean error :math:`g` and disagreement :math:`d` of its members.

    .. math:: R(\mathrm{vote}) \le 1 - \frac{(1 - 2g)^2}{1 - 2d} \quad (g < \tfrac12,\; d < \tfrac12),

    with an upper bound on g and a lower bound on d, each at :math:`\delta / 2`.

    Guarantee: as for the other two bounds, for two classes (theory: :ref:`majority-vote`).

    Examples
    --------
    >>> from surefit.bounds import vote_c_bound
    >>> round(vote_c_bound(0.2, 3000, 0.3, 1200).value, 4)
    0.4228
    """
    _check("vote_c_bound", mean_error, n, delta, divergence)
    _check("vote_c_bound", disagreement, n_pairs, delta, divergence)
    g = _upper(mean_error, divergence, n, delta / 2)
    c = (2 * divergence + math.log(4) + 0.5 * math.log(n_pairs) - math.log(delta)) / n_pairs
    d = min(kl_inverse_lower(disagreement, c) * (1 - ROUND_OUT), 2 * g * (1 - g))  # d <= 2 g (1 - g) always holds
    value = 1.0 if g >= 0.5 else (1 - (1 - 2 * g) ** 2 / (1 - 2 * d)) * (1 + ROUND_OUT)
    parts = {"member": g, "disagreement_limit": d}
    pairs = {"disagreement": float(disagreement), "n_pairs": int(n_pairs)}
    return _vote("vote_c_bound", value, delta, mean_error, n, divergence, parts, pairs)


def out_of_bag_bounds(wrong: Any, out_of_bag: Any, delta: float = 0.05) -> dict[str, RiskBound]:
    r"""Return the first-order and tandem bounds of a plain majority vote from its out-of-bag errors.

    Guarantee: each holds with probability at least ``1 - delta``; to use the smaller of the two, pass ``delta / 2``
    (theory: :ref:`majority-vote`).

    Parameters
    ----------
    wrong : array of shape (members, rows) of bool
        Whether the member errs on the row.
    out_of_bag : array of shape (members, rows) of bool
        Whether the row was left out of the member's training set; drawn independently of the data.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.bounds import out_of_bag_bounds
    >>> rng = np.random.default_rng(0)
    >>> bounds = out_of_bag_bounds(rng.random((50, 5000)) < 0.1, rng.random((50, 5000)) < 0.37)
    >>> [f"{name}: {bound.value:.3f}" for name, bound in bounds.items()]
    ['first_order: 0.263', 'tandem: 0.145']
    """
    E, B = np.asarray(wrong, dtype=bool), np.asarray(out_of_bag, dtype=bool)
    if E.ndim != 2 or E.shape != B.shape or len(E) < 2:
        raise InvalidData(
            "out_of_bag_bounds: two tables of the same shape are needed, one row for each of >= 2 members."
        )
    counts = B.sum(axis=1)
    joint = B.astype(np.float64) @ B.T.astype(np.float64)
    if counts.min() == 0 or joint.min() == 0:
        raise InvalidData(
            "out_of_bag_bounds: some pair of members has no row that neither saw; use more rows or fewer members."
        )
    lost = (E & B).astype(np.float64)
    mean_error = float(np.mean(lost.sum(axis=1) / counts))
    tandem = float(np.mean((lost @ lost.T) / joint))  # diagonal: a member with itself
    return {
        "first_order": vote_first_order(mean_error, int(counts.min()), delta),
        "tandem": vote_tandem(tandem, int(joint.min()), delta),
    }


def _upper(mean: float, divergence: float, n: int, delta: float) -> float:
    c = (divergence + math.log(2) + 0.5 * math.log(n) - math.log(delta)) / n
    return min(1.0, kl_inverse(mean, c) * (1 + ROUND_OUT))


def _vote(
    name: str,
    value: float,
    delta: float,
    mean: float,
    n: int,
    divergence: float,
    parts: dict[str, Any],
    pairs: dict[str, Any] | None = None,
) -> RiskBound:
    return RiskBound(
        name,
        min(1.0, value),
        delta,
        "risk of the majority vote",
        ("iid", "members_tested_on_unseen_rows"),
        inputs={"empirical": float(mean), "n": int(n), "divergence": float(divergence), **(pairs or {})},
        terms=parts,
    )


def _check(who: str, mean: float, n: int, delta: float, divergence: float) -> None:
    check_delta(who, delta)
    if not FRACTION.allows(mean):
        raise InvalidParameter(who, "mean loss", FRACTION.words, mean)
    if not COUNT.allows(n):
        raise InvalidParameter(who, "n", COUNT.words, n)
    if not NON_NEGATIVE.allows(divergence):
        raise InvalidParameter(who, "divergence", NON_NEGATIVE.words, divergence)
