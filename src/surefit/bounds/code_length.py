r"""Occam's bound for models with short codes, and shares of delta for countable families."""

import math

from surefit.bounds.base import RiskBound, check_count, check_delta
from surefit.bounds.binomial import binomial_tail_inverse
from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT, NON_NEGATIVE, one_of


def occam(errors: int, n: int, bits: float, delta: float = 0.05) -> RiskBound:
    r"""Return the risk bound of a model with a code of ``bits`` bits in a prefix-free code that was fixed in advance.

    .. math:: R(h) \le \max\{p : P(\mathrm{Bin}(n, p) \le k) \ge \delta\, 2^{-\text{bits}}\}.

    Guarantee: simultaneously for all models of the code, trained on the same ``n`` rows, because :math:`\sum_h 2^{-\text{bits}(h)} \le 1`
    (Kraft's inequality) and the union bound holds (theory: :ref:`compression`).

    Parameters
    ----------
    errors, n : int
        Training errors and training rows.
    bits : float >= 0
        Length of the model's code word, e.g. from :func:`tree_bits`.
    delta : float in (0, 1)
        Failure probability.

    Examples
    --------
    >>> from surefit.bounds import occam, tree_bits
    >>> bits = tree_bits(n_splits=4, n_features=10, n_thresholds=256)
    >>> round(bits, 2), round(occam(60, 2000, bits).value, 4)
    (59.29, 0.0783)
    """
    check_count("occam", errors, n)
    check_delta("occam", delta)
    if not NON_NEGATIVE.allows(bits):
        raise InvalidParameter("occam", "bits", NON_NEGATIVE.words, bits)
    return RiskBound(
        "occam",
        binomial_tail_inverse(int(errors), int(n), math.log(delta) - bits * math.log(2)),
        delta,
        "risk of the coded model",
        ("iid", "code_fixed_a_priori"),
        inputs={"errors": int(errors), "n": int(n), "bits": float(bits)},
        terms={"empirical": errors / n},
    )


def tree_bits(n_splits: int, n_features: int, n_thresholds: int, n_classes: int = 2) -> float:
    """Return the code length of a binary tree: one bit per node, the class at each leaf, feature and threshold at each split.

    The ``n_thresholds`` candidate thresholds of each feature must be declared before the data are seen (a grid, or quantiles of rows that
    are not used otherwise).

    Examples
    --------
    >>> from surefit.bounds import tree_bits
    >>> tree_bits(0, 4, 16), tree_bits(1, 4, 16)  # a leaf: 1 + 1; a split: 1 + 2 + 4, and two leaves
    (2.0, 11.0)
    """
    if n_splits != 0 and not COUNT.allows(n_splits):
        raise InvalidParameter("tree_bits", "n_splits", "an integer >= 0", n_splits)
    for name, value in (("n_features", n_features), ("n_thresholds", n_thresholds), ("n_classes", n_classes)):
        if not COUNT.allows(value):
            raise InvalidParameter("tree_bits", name, COUNT.words, value)
    leaves = n_splits + 1
    split = math.log2(n_features) + math.log2(n_thresholds)
    return (n_splits + leaves) + leaves * math.log2(n_classes) + n_splits * split


def delta_share(k: int, delta: float, series: str = "telescoping") -> float:
    r"""Return the share of ``delta`` for the k-th of countably many classes, looks or radii, k = 1, 2, ...

    ``"telescoping"``: :math:`\delta / (k (k + 1))`; ``"basel"``: :math:`6 \delta / (\pi^2 k^2)`. Both sum to ``delta``.

    Examples
    --------
    >>> from surefit.bounds import delta_share
    >>> [round(delta_share(k, 0.06), 6) for k in (1, 2, 3)]
    [0.03, 0.01, 0.005]
    """
    check_delta("delta_share", delta)
    if not COUNT.allows(k):
        raise InvalidParameter("delta_share", "k", COUNT.words, k)
    rule = one_of("telescoping", "basel")
    if not rule.allows(series):
        raise InvalidParameter("delta_share", "series", rule.words, series)
    return delta / (k * (k + 1)) if series == "telescoping" else 6 * delta / (math.pi * k) ** 2
