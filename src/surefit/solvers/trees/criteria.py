r"""Impurity criteria of splits.

The total impurity of a node is its weight times its impurity. For targets that are summarized by their weight W and the sum S of w y
(real targets, and two classes 0 and 1), ``decrease`` is the decrease of the total by a cut. For class weights,
``class_spread`` returns the total. Totals are concave, so no cut increases them. Criteria are numbers, not types, so
that one compiled grower serves all of them.
"""

from __future__ import annotations

import math

from surefit.core.jit import compiled

GINI, ENTROPY, MISCLASSIFICATION, SQUARED_ERROR, POISSON, ABSOLUTE_ERROR = range(6)

#: A smaller share of a node's sum may be rounding of a difference whose true value is zero.
LEAST_SHARE = 1e-11

#: Names of the criteria in the estimators.
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
    """Return the total impurity of a node of two classes, where ``total`` of its ``weight`` belongs to class 1."""
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
    """Return the decrease of the total impurity by a cut with (left_weight, left_sum) on the left; -inf if it is not allowed."""
    right_weight = weight - left_weight
    if criterion == GINI:
        shift = left_sum * weight - total * left_weight  # exact for counts
        return 2.0 * shift * shift / (weight * left_weight * right_weight)
    if criterion == SQUARED_ERROR:  # n_1 n_2 / n times the squared difference of the means
        shift = left_sum - total * (left_weight / weight)
        return shift * shift * weight / (left_weight * right_weight)
    right_sum = total - left_sum
    if criterion == POISSON:
        if min(left_sum, right_sum) <= LEAST_SHARE * total:  # a leaf must predict a positive rate
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
    """Return the total impurity of a node with these class weights."""
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
