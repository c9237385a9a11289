"""Validation of parameters (declared rules) and data (scikit-learn), with surefit's error messages."""

from __future__ import annotations

import importlib
import math
import numbers
import os
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.fingerprint import largest_of_many
from surefit.core.guards.extremes import mean_square, note_range, running
from surefit.core.guards.refusals import in_one_sentence
from surefit.core.partitioned import PARQUET, PartitionedRows

_FLOATS = (np.dtype(np.float64), np.dtype(np.float32))
LARGEST_INTEGER = 2**53  # largest integer up to which all integers are floats


class Rule(NamedTuple):
    """Domain of a parameter: a test and its description."""

    words: str
    allows: Callable[[Any], bool]

    def __or__(self, other: Rule) -> Rule:
        return Rule(f"{self.words}, or {other.words}", lambda v: self.allows(v) or other.allows(v))


def _is_real(value: Any) -> bool:
    if type(value) is float or type(value) is int:  # tests against abstract classes are slow
        return value == value
    return isinstance(value, numbers.Real) and not isinstance(value, (bool, np.bool_)) and not np.isnan(float(value))


def _is_count(value: Any) -> bool:
    if type(value) is int:
        return True
    return isinstance(value, numbers.Integral) and not isinstance(value, (bool, np.bool_))


REAL = Rule("a finite number", lambda v: _is_real(v) and -np.inf < v < np.inf)
POSITIVE = Rule("a finite number > 0", lambda v: _is_real(v) and 0 < v < np.inf)
NON_NEGATIVE = Rule("a finite number >= 0", lambda v: _is_real(v) and 0 <= v < np.inf)
FRACTION = Rule("a number from 0 to 1", lambda v: _is_real(v) and 0 <= v <= 1)
COUNT = Rule("an integer >= 1", lambda v: _is_count(v) and v >= 1)
BOOLEAN = Rule("True or False", lambda v: isinstance(v, (bool, np.bool_)))
NOTHING = Rule("None", lambda v: v is None)
ARRAY = Rule("an array", lambda v: isinstance(v, np.ndarray) or (hasattr(v, "__len__") and not isinstance(v, str)))
RANDOM_STATE = NOTHING | Rule(
    "an integer >= 0 or a numpy RandomState",
    lambda v: (_is_count(v) and v >= 0) or isinstance(v, (np.random.RandomState, np.random.Generator)),
)
N_JOBS = NOTHING | Rule("an integer other than 0 (-1: all cores)", lambda v: _is_count(v) and v != 0)
ANYTHING = Rule("anything", lambda v: True)
BOUNDS = Rule(
    '"fixed", or a pair 0 < low <= high (for several values one pair each)',
    lambda v: v == "fixed" if isinstance(v, str) else _is_pairs(v),
)
SCORING = NOTHING | Rule(
    "the name of a score, or a function of model, X and y", lambda v: isinstance(v, str) or callable(v)
)


def _is_pairs(value: Any) -> bool:
    if type(value) is tuple and len(value) == 2 and type(value[0]) is float and type(value[1]) is float:
        return 0.0 < value[0] <= value[1]
    try:
        pairs = np.atleast_2d(np.asarray(value, dtype=np.float64))
    except (TypeError, ValueError):
        return False
    return pairs.ndim == 2 and pairs.shape[1] == 2 and bool(np.all((pairs[:, 0] > 0) & (pairs[:, 0] <= pairs[:, 1])))


def one_of(*choices: Any) -> Rule:
    """Return the rule that accepts only the listed values."""
    return Rule("one of " + ", ".join(map(repr, choices)), lambda v: any(_same_type(v, c) and v == c for c in choices))


def _same_type(value: Any, choice: Any) -> bool:
    """Return whether two values have the same type; NumPy strings count as strings, but 1 is not True."""
    return type(value) is type(choice) or (isinstance(value, str) and isinstance(choice, str))


def check_params(estimator: Any) -> None:
    """Check every parameter against ``estimator._rules``; raise ``InvalidParameter`` for the first that is invalid."""
    who = type(estimator).__name__
    for name, rule in estimator._rules.items():
        value = getattr(estimator, name)
        if not rule.allows(value):
            raise InvalidParameter(who, name, rule.words, value)


def is_partitioned(X: Any) -> bool:
    """Return whether ``X`` is a Dask collection, a Parquet path, or rows in partitions.

    Examples
    --------
    >>> from surefit.core.validation import is_partitioned
    >>> is_partitioned([[1.0]]), is_partitioned("big/*.parquet")
    (False, True)
    """
    if X is None or isinstance(X, (np.ndarray, list, tuple)):
        return False
    if isinstance(X, PartitionedRows):
        return True
    if isinstance(X, (str, os.PathLike)):
        return str(X).endswith(PARQUET) or os.path.isdir(X)
    return type(X).__module__.partition(".")[0] in ("dask", "dask_expr")


def read_data(estimator: Any, X: Any, y: Any = None, *, reset: bool = True, **options: Any) -> Any:
    """Call scikit-learn's ``validate_data``; if a value is not finite, the error message gives its row and column.

    Options are those of ``sklearn.utils.validation.validate_data``.
    """
    if is_partitioned(X):
        raise importlib.import_module("surefit.cluster").unsupported(estimator)
    arguments = (X,) if y is None and not reset else (X, y)
    if _is_plain(estimator, X, y, reset, options):
        estimator.n_features_in_ = X.shape[1]
        found = X if y is None else (X, y)
    else:
        with in_one_sentence(estimator, X, y):
            found = validate_data(estimator, *arguments, reset=reset, **options)
    return (
        _noted(type(estimator).__name__, found) if reset and not options.get("skip_check_array") else canonical(found)
    )


def _noted(who: str, found: Any) -> Any:
    """Return training data in canonical form and record extreme numbers; raise an error for targets that floats cannot represent."""
    X, *target = found if isinstance(found, tuple) else (found,)
    X = canonical(X)
    note_range("X", X)
    for y in target:
        note_range("y", y)
        kind = getattr(y, "dtype", np.dtype(object)).kind
        if kind in "mM":
            raise InvalidData(f"{who}: y holds dates or durations; expected numbers or labels. Convert them first.")
        refuse_large_integers(who, y)
    return (X, *target) if isinstance(found, tuple) else X


def refuse_large_integers(who: str | None, y: Any) -> None:
    """Raise ``InvalidData`` for integers that floats cannot distinguish. By default, ``who`` is the running fit."""
    kind = getattr(y, "dtype", np.dtype(object)).kind
    if kind in "iu" and y.size and max(abs(int(y.min())), abs(int(y.max()))) > LARGEST_INTEGER:
        raise InvalidData(
            f"{who or running()}: y holds integers above 2**53, which floats cannot represent exactly; use smaller numbers or strings."
        )


def canonical(X: Any) -> Any:
    """Return CSR and CSC matrices with sorted 32-bit indices (if sufficient) and no duplicates; return other values unchanged."""
    if not sparse.issparse(X) or X.format not in ("csr", "csc"):
        return X
    narrow = X.indices.dtype == np.int64 and max(X.nnz, *X.shape) < 2**31
    if narrow:
        parts = (X.data, X.indices.astype(np.int32), X.indptr.astype(np.int32))
        X = type(X)(parts, shape=X.shape)
    if not X.has_canonical_format:
        X = X.copy()
        X.sum_duplicates()
    return X


#: Options that :func:`_is_plain` handles.
_KNOWN = frozenset(
    ("accept_sparse", "dtype", "order", "ensure_all_finite", "ensure_min_samples", "y_numeric", "multi_output")
)


def _is_plain(estimator: Any, X: Any, y: Any, reset: bool, options: dict[str, Any]) -> bool:
    """Return whether scikit-learn's ``validate_data`` would return ``X`` and ``y`` as they are, so that it need not be called.

    On small arrays, the call takes longer than many fits.
    """
    if (
        type(X) is not np.ndarray
        or X.ndim != 2
        or not options.keys() <= _KNOWN
        or hasattr(estimator, "feature_names_in_")
    ):
        return False
    if y is None and reset and estimator.__sklearn_tags__().target_tags.required:  # scikit-learn says that y is missing
        return False
    dtypes, order = options.get("dtype"), options.get("order")
    if X.dtype not in (dtypes if isinstance(dtypes, (list, tuple)) else (dtypes,)) or X.dtype not in _FLOATS:
        return False
    if not {None: True, "C": X.flags.c_contiguous, "F": X.flags.f_contiguous}.get(order, False):
        return False
    if X.shape[0] < max(1, options.get("ensure_min_samples", 1)) or X.shape[1] < 1:
        return False
    if not reset and getattr(estimator, "n_features_in_", None) != X.shape[1]:
        return False
    if options.get("ensure_all_finite", True) is not False and not _has_finite_sum(X):
        return False
    return y is None or _is_plain_target(y, X.shape[0], options.get("multi_output", False))


def _is_plain_target(y: Any, n_rows: int, multi_output: bool) -> bool:
    if type(y) is not np.ndarray or not 1 <= y.ndim <= 1 + multi_output or y.shape[0] != n_rows or not y.size:
        return False
    return y.dtype.kind in "biu" or (y.dtype in _FLOATS and _has_finite_sum(y))


def _has_finite_sum(values: np.ndarray) -> bool:
    most = largest_of_many(values)
    if most is not None and math.isfinite(most):
        return True
    if (values.flags.c_contiguous or values.flags.f_contiguous) and math.isfinite(mean_square(values)):
        return True
    with np.errstate(all="ignore"):
        return math.isfinite(values.sum())


def check_labels(y: Any) -> None:
    """Call scikit-learn's ``check_classification_targets``, unless ``y`` consists of integers that are certainly labels.

    Integers whose range is below half the number of rows are neither continuous nor numerous enough for its warning.
    """
    if type(y) is np.ndarray and y.ndim == 1 and y.dtype.kind in "iu" and len(y):
        if int(y.max()) - int(y.min()) < len(y) // 2:
            return
    with in_one_sentence(running(), None):
        check_classification_targets(y)


def read_strings(who: str, X: Any) -> np.ndarray:
    """Return a sample of strings as a one-dimensional object array; a table with one column is accepted."""
    if isinstance(X, str):
        raise InvalidData(f"{who}: a sample is a list of strings; got one string, {X!r}. Put it into a list.")
    array = np.asarray(X, dtype=object)
    array = array[:, 0] if array.ndim == 2 and array.shape[1] == 1 else array
    if array.ndim != 1 or not len(array):
        raise InvalidData(
            f"{who}: a sample is a list of strings or a table of one column; got an array of shape {array.shape}."
        )
    for i, text in enumerate(array):
        if not isinstance(text, str):
            raise InvalidData(f"{who}: every element must be a string; element {i} is {text!r}.")
    return array


def read_weights(who: Any, sample_weight: Any, n_rows: int) -> np.ndarray | None:
    """Return the sample weights as float64, or None; negative, missing or all-zero weights raise ``InvalidData``.

    ``who`` is the estimator, or the name, used in the error message.
    """
    if sample_weight is None:
        return None
    who = who if isinstance(who, str) else type(who).__name__
    if isinstance(sample_weight, numbers.Real):
        weights = np.full(n_rows, float(sample_weight))
    else:
        try:
            weights = np.asarray(sample_weight, dtype=np.float64)
        except (TypeError, ValueError):
            raise InvalidData(f"{who}: sample_weight must be numbers; got {type(sample_weight).__name__}.") from None
    if weights.ndim != 1:
        raise InvalidData(f"{who}: sample_weight must be 1D array or scalar; got {weights.ndim} dimensions.")
    if weights.shape != (n_rows,):
        raise InvalidData(
            f"{who}: sample_weight.shape == {weights.shape}, expected {(n_rows,)}: one weight per row of X."
        )
    bad = np.flatnonzero(~np.isfinite(weights) | (weights < 0))
    if len(bad):
        raise InvalidData(
            f"{who}: Negative values in data passed to sample_weight, or values that are not finite: "
            f"row {bad[0]} has {float(weights[bad[0]])!r}; weights must be finite and >= 0."
        )
    note_range("sample_weight", weights)
    if not weights.any():
        raise InvalidData(f"{who}: Sample weights must contain at least one non-zero number; all {n_rows} are zero.")
    return weights
