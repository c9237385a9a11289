"""String subsequence kernel by dynamic programming, for all lengths in one run."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.jit import compiled
from surefit.core.validation import BOOLEAN, COUNT, NOTHING, Rule, read_strings
from surefit.kernels.base import Kernel
from surefit.kernels.closure import COEFFICIENTS
from surefit.kernels.rows import GramRows

LARGEST_MAP = 10**6  # largest number of features of an explicit map
DECAY = Rule("a number > 0 and <= 1", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and 0 < v <= 1)


class StringSubsequence(Kernel):
    r"""Kernel that counts the common subsequences of two strings, with gaps allowed.

    .. math::

        k_n(s, t) = \sum_{u \in \Sigma^n} \phi_u(s) \phi_u(t), \qquad
        \phi_u(s) = \sum_{i_1 < \dots < i_n,\; s[i] = u} \lambda^{i_n - i_1 + 1}

    One run with :math:`O(n |s| |t|)` steps and :math:`O(n |t|)` memory computes :math:`k_1, \dots, k_n`.

    Guarantee: positive semidefinite, because there are finitely many features. With ``normalized``, a string shorter than ``length`` has
    no features and the value 0 with every string.

    Parameters
    ----------
    length : int >= 1, default=3
        The number :math:`n` of characters.
    decay : float in (0, 1], default=0.5
        Factor :math:`\lambda` for every character that a subsequence spans.
    normalized : bool, default=True
        Whether values are divided by :math:`\sqrt{k(s, s) k(t, t)}`; recommended, since values decrease like :math:`\lambda^{2n}`.
    weights : list of float >= 0 or None, default=None
        Use :math:`\sum_m w_m k_m` with a weight for each of the lengths 1 to ``length`` instead of :math:`k_n` alone.

    Examples
    --------
    >>> from surefit.kernels import StringSubsequence
    >>> StringSubsequence(2)(["car", "cat"]).round(4)
    array([[1.    , 0.4444],
           [0.4444, 1.    ]])
    >>> StringSubsequence(3).all_lengths(["segmentation"], ["statement"]).ravel().round(6)
    array([3.75    , 0.481313, 0.085585])
    """

    takes = "strings"
    _rules = {"length": COUNT, "decay": DECAY, "normalized": BOOLEAN, "weights": NOTHING | COEFFICIENTS}

    def __init__(self, length=3, decay=0.5, normalized=True, weights=None):
        self.length = length
        self.decay = decay
        self.normalized = normalized
        self.weights = weights

    def read(self, X) -> np.ndarray:
        """Validate a sample of strings."""
        if self.weights is not None and len(self.weights) != self.length:
            raise InvalidParameter(
                "StringSubsequence", "weights", f"{self.length} numbers, one per length", self.weights
            )
        return read_strings("StringSubsequence", X)

    def all_lengths(self, X, Y=None) -> np.ndarray:
        """Return the values for every length, not normalized: an array of shape (length, n_x, n_y)."""
        A = self.read(X)
        return self._powers()[:, None, None] * self._counts(A, A if Y is None else self.read(Y))

    def _powers(self) -> np.ndarray:
        return float(self.decay) ** (2.0 * np.arange(1, self.length + 1))

    def _counts(self, A, B) -> np.ndarray:
        """Return the values for every length divided by ``decay ** (2 length)``, which avoids underflow."""
        a, b = _coded(A), _coded(B)
        return _all_pairs(*a, *b, int(self.length), float(self.decay), A is B)

    def _factors(self) -> np.ndarray:
        """Return the weights of the lengths, without a scale that normalization would remove."""
        if self.weights is not None:
            return np.asarray(self.weights, dtype=np.float64) * self._powers()
        last = (np.arange(self.length) == self.length - 1).astype(np.float64)
        return last if self.normalized else last * self._powers()

    def raw(self, A, B) -> np.ndarray:
        """Return the values before normalization, up to a factor that normalization removes."""
        return np.tensordot(self._factors(), self._counts(A, B), axes=1)

    def raw_diagonal(self, A) -> np.ndarray:
        """Return the values of each string with itself before normalization."""
        return self._factors() @ _all_own(*_coded(A), int(self.length), float(self.decay))

    def _gram(self, A, B):
        values = self.raw(A, B)
        if not self.normalized:
            return values
        a = _inverse_root(self.raw_diagonal(A))
        return values * (a[:, None] * (a if A is B else _inverse_root(self.raw_diagonal(B))))

    def _diagonal(self, A):
        own = self.raw_diagonal(A)
        return (own > 0).astype(np.float64) if self.normalized else own

    def _prepared(self, A, dtype):
        return _SubsequenceRows(self, A, dtype)

    def _features(self, text: str) -> dict[str, float]:
        """Return the subsequences of up to ``length`` characters with their values."""
        found: dict[str, float] = {}
        begun: dict[str, float] = {}  # subsequence -> sum of decay ** (place - first place + 1)
        for character in text:
            grown = {u: w * self.decay for u, w in begun.items()}
            for u, w in [("", 1.0), *begun.items()]:
                word, value = u + character, w * self.decay
                found[word] = found.get(word, 0.0) + value
                if len(word) < self.length:
                    grown[word] = grown.get(word, 0.0) + value
            begun = grown
            if len(found) > LARGEST_MAP:
                raise InvalidParameter(
                    "StringSubsequence", "length", f"such that a string has at most {LARGEST_MAP} features", self.length
                )
        weights = dict(enumerate(self.weights, start=1)) if self.weights is not None else {self.length: 1.0}
        return {u: v * np.sqrt(weights[len(u)]) for u, v in found.items() if weights.get(len(u), 0.0) > 0}

    def feature_names(self, X) -> list[str]:
        """Return the subsequences that occur in a sample, sorted."""
        return sorted({u for text in self.read(X) for u in self._features(text)})

    def feature_map(self, X, names=None) -> np.ndarray:
        """Return the features called ``names`` (default: those of the sample); two samples need common names."""
        names = self.feature_names(X) if names is None else list(names)
        rows = [self._features(text) for text in self.read(X)]
        norms = [np.sqrt(sum(v * v for v in row.values())) or 1.0 if self.normalized else 1.0 for row in rows]
        values = [[row.get(u, 0.0) / norm for u in names] for row, norm in zip(rows, norms, strict=True)]
        return np.array(values, dtype=np.float64).reshape(len(rows), len(names))


class _SubsequenceRows(GramRows):
    """Rows of a string kernel; the value of each string with itself is computed once."""

    def __init__(self, kernel: StringSubsequence, A, dtype=np.float64):
        super().__init__(kernel, A, dtype)
        self.scales = _inverse_root(kernel.raw_diagonal(A)) if kernel.normalized else np.ones(len(A))

    def _values(self, indices):
        values = self.kernel.raw(self.A[indices], self.A) * (self.scales[indices, None] * self.scales)
        return np.ascontiguousarray(values, dtype=self.dtype)


def _inverse_root(squares: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(squares), out=np.zeros(len(squares)), where=squares > 0)


def _coded(A) -> tuple[np.ndarray, np.ndarray]:
    """Return the characters of all concatenated strings as integers, and the start of each string."""
    ends = np.cumsum([0, *(len(text) for text in A)])
    joined = "".join(A).encode("utf-32-le", "surrogatepass")
    return np.frombuffer(joined, dtype="<i4").astype(np.int32), ends


@compiled
def _all_pairs(a, a_ends, b, b_ends, length, decay, symmetric):
    n, m = len(a_ends) - 1, len(b_ends) - 1
    values = np.zeros((length, n, m))
    for i in range(n):
        s = a[a_ends[i] : a_ends[i + 1]]
        for j in range(i if symmetric else 0, m):
            values[:, i, j] = _one_pair(s, b[b_ends[j] : b_ends[j + 1]], length, decay)
            if symmetric:
                values[:, j, i] = values[:, i, j]
    return values


@compiled
def _all_own(a, a_ends, length, decay):
    values = np.zeros((length, len(a_ends) - 1))
    for i in range(len(a_ends) - 1):
        s = a[a_ends[i] : a_ends[i + 1]]
        values[:, i] = _one_pair(s, s, length, decay)
    return values


@compiled
def _one_pair(s, t, length, decay):
    # carried[j, h]: K'_h of the characters of s so far with t[: j + 1], over decay ** (2 h). There is one row per character of t, so
    # that the values for the lengths, which do not depend on each other, are contiguous. before[h] is the row of j - 1 without s[i].
    total = np.zeros(length)
    carried = np.zeros((len(t), length))
    for i in range(len(s)):
        before, run, here = np.zeros(length), np.zeros(length), np.zeros(length)
        before[0] = 1.0  # the empty subsequence
        for j in range(len(t)):
            same = t[j] == s[i]
            if same:
                here[length - 1] += before[length - 1]
            for h in range(length - 1, 0, -1):
                run[h] *= decay
                if same:
                    here[h - 1] += before[h - 1]
                    run[h] += before[h - 1]
                before[h] = carried[j, h]
                carried[j, h] = decay * before[h] + run[h]
        total += here
    return total
