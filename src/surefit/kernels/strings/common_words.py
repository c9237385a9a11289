"""Number of words that two texts have in common."""

from __future__ import annotations

import re
from functools import lru_cache

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidParameter
from surefit.core.validation import BOOLEAN, Rule, one_of, read_strings
from surefit.kernels.base import Kernel


def _is_pattern(value) -> bool:
    try:
        re.compile(value)
    except (re.error, TypeError):
        return False
    return isinstance(value, str)


class CommonWords(Kernel):
    r"""Number of distinct words in both texts, :math:`k(s, t) = |W(s) \cap W(t)|`.

    Guarantee: positive semidefinite, because the features are indicators of words. With ``counts="product"`` the features are counts.
    With ``counts="min"`` the value is the size of the common multiset, an inner product of the indicators "the word occurs at least r
    times".

    Parameters
    ----------
    pattern : str, default=r"\\w+"
        Regular expression of a word.
    lowercase : bool, default=True
        Whether case is ignored.
    counts : {"set", "product", "min"}, default="set"
        How repeated words are counted.

    Examples
    --------
    >>> from surefit.kernels import CommonWords
    >>> CommonWords()(["the cat sat", "the dog sat"])
    array([[3., 2.],
           [2., 3.]])
    """

    takes = "strings"
    _rules = {
        "pattern": Rule("a regular expression", _is_pattern),
        "lowercase": BOOLEAN,
        "counts": one_of("set", "product", "min"),
    }

    def __init__(self, pattern=r"\w+", lowercase=True, counts="set"):
        self.pattern = pattern
        self.lowercase = lowercase
        self.counts = counts

    def read(self, X) -> np.ndarray:
        """Validate a sample of strings."""
        return read_strings("CommonWords", X)

    def _entries(self, text: str) -> dict:
        """Return the non-zero features of one text."""
        words = _words(self.pattern, text.lower() if self.lowercase else text)
        seen: dict = {}
        for word in words:
            seen[word] = seen.get(word, 0) + 1
        if self.counts == "set":
            return dict.fromkeys(seen, 1.0)
        if self.counts == "product":
            return {word: float(count) for word, count in seen.items()}
        return {(word, r): 1.0 for word, count in seen.items() for r in range(count)}

    def _matrix(self, A, columns: dict, grow: bool) -> sparse.csr_array:
        indices: list[int] = []
        data: list[float] = []
        ends = [0]
        for text in A:
            for name, value in self._entries(text).items():
                place = columns.setdefault(name, len(columns)) if grow else columns.get(name)
                if place is not None:
                    indices.append(place)
                    data.append(value)
            ends.append(len(indices))
        return sparse.csr_array((np.array(data), np.array(indices, dtype=np.int64), ends), shape=(len(A), len(columns)))

    def _gram(self, A, B):
        columns: dict = {}
        right = self._matrix(B, columns, grow=True)
        return (self._matrix(A, columns, grow=False) @ right.T).toarray()

    def _diagonal(self, A):
        return np.array([sum(v * v for v in self._entries(text).values()) for text in A], dtype=np.float64)

    def feature_names(self, X) -> list:
        """Return the names of the features of a sample, sorted."""
        return sorted({name for text in self.read(X) for name in self._entries(text)})

    def feature_map(self, X, names=None) -> np.ndarray:
        """Return the features called ``names`` (default: those of the sample); two samples need common names."""
        names = self.feature_names(X) if names is None else list(names)
        if len(set(names)) != len(names):
            raise InvalidParameter("CommonWords", "names", "distinct", names)
        return self._matrix(self.read(X), {name: j for j, name in enumerate(names)}, grow=False).toarray()


@lru_cache(maxsize=4096)
def _words(pattern: str, text: str) -> tuple[str, ...]:
    return tuple(match.group() for match in re.finditer(pattern, text))
