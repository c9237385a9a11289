r"""Impurities: what a split is to lower.

The total impurity of a node is its weight times its impurity. For targets that a criterion knows by their weight W and the sum S of w y
(real targets, and two classes 0 and 1) there is the ``decrease`` of the total by a cut; for class weights there is ``class_spread``.
Totals are concave, so no cut raises them. Criteria are numbers, not types, so that one compiled grower serves them all.
"""

from __future__ import annotations

import math

from surefit.core.jit import compiled

GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR, POISSON, ABSOLUTE_ERROR = range(6)

#: Names of the criteria, as estimators spell them.
CRITERIA = {
    "gini": GINI,
    "entropy": ENTROPY,
    "log_loss": ENTROPY,
    "misclassification": MISCLASSIFICATION,
    "squared_error": SQUARED_ERROR,
    "poisson": POISSON,
    "absolute_error": ABSOLUTE_ERROR,
}


@compiled
def spread(criterion, weight, total):
    """Total impurity of a node of two classes, ``total`` of whose ``weight`` is of class 1."""
    rest = weight - total
    if total <= 0.0 or rest <= 0.0:
        return 0.0
    if criterion == GINI:
        return 2.0 * total * rest / weight
    if criterion == ENTROPY:
        return -(total * math.log2(total / weight) + rest * math.log2(rest / weight))
    return min(total, rest)


@compiled
def decrease(criterion, left_weight, left_sum, weight, total):
    """By how much the total impurity falls if (left_weight, left_sum) is split off; -inf if the cut is not allowed."""
    right_weight = weight - left_weight
    if criterion == GINI:
        shift = left_sum * weight - total * left_weight  # exact for counts
        return 2.0 * shift * shift / (weight * left_weight * right_weight)
    if criterion == SQUARED_ERROR:  # n_1 n_2 / n times the squared difference of the means
        shift = left_sum - total * (left_weight / weight)
        return shift * shift * weight / (left_weight * right_weight)
    right_sum = total - left_sum
    if criterion == POISSON:
        if left_sum <= 0.0 or right_sum <= 0.0:  # a leaf must predict a positive rate
            return -math.inf
        mean = total / weight
        return left_sum * math.log(left_sum / left_weight / mean) + right_sum * math.log(
            right_sum / right_weight / mean
        )
    return (
        spread(criterion, weight, total)
        - spread(criterion, left_weight, left_sum)
        - spread(criterion, right_weight, right_sum)
    )


@compiled
def class_spread(criterion, counts, weight):
    """Total impurity of a node with these class weights."""
    if weight <= 0.0:
        return 0.0
    total = 0.0
    if criterion == GINI:
        for count in counts:
            total += count * count
        return weight - total / weight
    if criterion == ENTROPY:
        for count in counts:
            if count > 0.0:
                total -= count * math.log2(count / weight)
        return max(total, 0.0)
    for count in counts:
        total = max(total, count)
    return weight - total
