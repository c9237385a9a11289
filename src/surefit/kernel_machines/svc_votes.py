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


def consistent(scores: np.ndarray, n_classes: int, strategy: str, break_ties: bool) -> np.ndarray:
    """Scores of the classes whose largest, or first of the largest, is the prediction: ties of votes may swap two of them."""
    if strategy == "ovr":
        return scores
    z = one_against_rest_scores(scores, n_classes)
    if not break_ties:
        rows = np.arange(len(z))
        chosen, top = np.argmax(vote(scores, n_classes), axis=1), np.argmax(z, axis=1)
        z[rows, chosen], z[rows, top] = z[rows, top], z[rows, chosen]
    return z


def _pairs(n_classes: int) -> list[tuple[int, int]]:
    return [(i, j) for i in range(n_classes) for j in range(i + 1, n_classes)]
