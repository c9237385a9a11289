"""Small tables that illustrate decision trees."""

from __future__ import annotations

from itertools import product
from typing import NamedTuple

import numpy as np


class Table(NamedTuple):
    """Rows and labels.

    Examples
    --------
    >>> from surefit.data import load_or_table
    >>> X, y = load_or_table()
    >>> X.shape, y.shape
    ((6, 2), (6,))
    """

    X: np.ndarray
    y: np.ndarray


def load_or_table() -> Table:
    r"""Return six rows of two boolean attributes with :math:`y = x_1 \lor x_2`.

    The entropy of the labels is 0.650022 bits; the information gain of the first attribute is 0.316689, and that of the
    second is 0.190875.

    Examples
    --------
    >>> from surefit.data import load_or_table
    >>> X, y = load_or_table()
    >>> X.shape, y
    ((6, 2), array([1, 1, 1, 1, 1, 0]))
    """
    rows = np.array([(1, 1, 1), (1, 0, 1), (1, 1, 1), (1, 0, 1), (0, 1, 1), (0, 0, 0)])
    return Table(rows[:, :2].astype(float), rows[:, 2])


def load_two_numbers_table() -> Table:
    """Return eight rows of two real attributes, for which two splits have exactly the same information gain.

    Examples
    --------
    >>> from surefit.data import load_two_numbers_table
    >>> X, y = load_two_numbers_table()
    >>> X[0], y
    (array([0.1 , 0.53]), array([1, 1, 0, 1, 1, 0, 0, 0]))
    """
    X = [(0.1, 0.53), (0.2, 0.86), (0.25, 0.36), (0.36, 0.91), (0.47, 0.87), (0.65, 0.13), (0.71, 0.82), (0.85, 0.55)]
    return Table(np.array(X), np.array([1, 1, 0, 1, 1, 0, 0, 0]))


#: Columns of the movie grid, and the meaning of their codes.
MOVIE_COLUMNS = {
    "genre": ("Animation", "Drama", "Romance"),
    "short": ("No", "Yes"),
    "popular": ("No", "Yes"),
    "miyazaki": ("No", "Yes"),
}


def load_movie_grid() -> Table:
    """Return 24 films, one for each combination of four attributes, and whether they are liked.

    The attributes are the genre (three values) and whether the film is short, popular, and by Miyazaki. A film is liked
    if it is a short drama, a popular romance, or an animation by Miyazaki: 12 films. The gain of the genre alone is 0,
    so a greedy tree does not split on it first and has 10 leaves, although 6 are enough.

    Examples
    --------
    >>> from surefit.data import load_movie_grid
    >>> X, y = load_movie_grid()
    >>> X.shape, int(y.sum())
    ((24, 4), 12)
    """
    rows = np.array(list(product(range(3), range(2), range(2), range(2))))
    genre, short, popular, miyazaki = rows.T
    liked = np.choose(genre, [miyazaki, short, popular])
    return Table(rows.astype(float), liked)
