"""From scores of pairs of classes to one score a class."""

import numpy as np


def vote(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes of each class: the first of a pair wins where the score is positive."""
    votes = np.zeros((len(scores), n_classes))
    for k, (i, j) in enumerate(_pairs(n_classes)):
        first = scores[:, k] > 0
        votes[first, i] += 1
        votes[~first, j] += 1
    return votes


def one_against_rest_scores(scores: np.ndarray, n_classes: int) -> np.ndarray:
    """Votes plus a share of the summed scores that is always below half a vote, as in scikit-learn."""
    sums = np.zeros((len(scores), n_classes))
    for k, (i, j) in enumerate(_pairs(n_classes)):
        sums[:, i] += scores[:, k]
        sums[:, j] -= scores[:, k]
    return vote(scores, n_classes) + sums / (3 * (np.abs(sums) + 1))


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
