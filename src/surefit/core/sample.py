"""Training data as read by ``fit`` and ``verify``."""

from __future__ import annotations

import importlib
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_array

from surefit.core.errors import CertificateError
from surefit.core.fingerprint import data_fingerprint
from surefit.core.guards.extremes import running
from surefit.core.guards.machine import available
from surefit.core.guards.memory import ALWAYS
from surefit.core.guards.refusals import in_one_sentence
from surefit.core.storage import is_sparse
from surefit.core.validation import canonical, is_partitioned, read_strings, refuse_large_integers


class Data(NamedTuple):
    """Training data as read by the checker."""

    X: Any
    y: np.ndarray | None
    weights: np.ndarray | None
    memo: dict[Any, Any]  # results shared by several claims about the same data
    given: Any = None  # X as passed to verify, for models that use column names
    offset: np.ndarray | None = None  # known part of the scores

    @property
    def target(self) -> np.ndarray:
        """The target; raises an error if there is none."""
        if self.y is None:
            raise CertificateError("This certificate is about a target; pass y to verify.")
        return self.y


def read(X: Any, y: Any = None, sample_weight: Any = None, *, strings: bool = False, offset: Any = None) -> Data:
    """Read data as ``fit`` does: numbers become float64, float32 is kept.

    If ``strings``, the sample is a list of strings for a string kernel.
    """
    if is_partitioned(X):  # the target and the weights stay with the rows; their outline defines the problem
        rows = importlib.import_module("surefit.cluster").rows_of("verify", X, y, sample_weight, missing=True)
        target, weights = rows.outline
        return Data(rows, target, weights, {}, X)
    given, X = X, read_strings("verify", X) if strings else _as_matrix(X)
    y = None if y is None else read_target(y)
    if sample_weight is not None:
        sample_weight = np.asarray(sample_weight, dtype=np.float64)
        sample_weight = np.full(X.shape[0], float(sample_weight)) if sample_weight.ndim == 0 else sample_weight
    offset = None if offset is None else np.asarray(offset, dtype=np.float64)
    return Data(X, y, sample_weight, {}, given, offset)


def fingerprints_of(sample: tuple[Any, ...]) -> dict[str, Any]:
    """Return the fingerprints of (X, y, sample_weight), optionally with an offset, and the storage of X."""
    return {**data_fingerprint(*sample), **storage_of(sample[0])}


def storage_of(X: Any) -> dict[str, str]:
    """Return the storage of a matrix ("C", "F", "csr" or "csc"), on which the rounding of sums depends."""
    if is_sparse(X):
        return {"storage": X.format}
    if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind == "f":
        return {"storage": "F" if X.flags.f_contiguous and not X.flags.c_contiguous else "C"}
    return {}


def stored_as(storage: Any, X: Any) -> Any:
    """Convert a matrix to another storage, so that the checker sums in the same order as the fit.

    Sparse matrices become dense only if the result is small or takes at most half of the available memory.
    """
    known = storage_of(X).get("storage")
    if storage not in (None, "C", "F", "csr", "csc"):
        raise CertificateError(f"The certificate names an unknown storage of X, {storage!r}.")
    if known is None or storage in (None, known):
        return X
    if storage in ("csr", "csc"):
        return sparse.csc_array(X).asformat(storage)
    if not is_sparse(X):
        return np.asarray(X, order=storage)
    size = X.dtype.itemsize * X.shape[0] * X.shape[1]
    return X if size > ALWAYS and size > available() / 2 else X.toarray(order=storage)


def read_target(y: Any) -> np.ndarray:
    """Return a numeric target as float64, with a single column as a vector; labels are unchanged."""
    y = np.asarray(y)
    refuse_large_integers(None, y)
    y = y.astype(np.float64, copy=False) if y.dtype.kind in "biuf" else y
    return y.ravel() if y.ndim == 2 and y.shape[1] == 1 else y


def _as_matrix(X: Any) -> Any:
    """Return numbers as a float matrix with one row per observation; images and other arrays are flattened.

    Tables with text (for pipelines) become object arrays, so that they have a fingerprint.
    """
    if type(X) is np.ndarray and X.ndim == 2 and X.size and X.dtype in (np.float64, np.float32):
        return X
    with in_one_sentence(running(), X):
        try:
            options = {"accept_sparse": ["csc", "csr"], "dtype": [np.float64, np.float32], "ensure_all_finite": False}
            read = check_array(X, allow_nd=True, **options)
            return canonical(read if read.ndim == 2 else read.reshape(len(read), -1))
        except (TypeError, ValueError):
            table = np.asarray(X)
            if table.dtype.kind not in "OUS" or table.ndim not in (1, 2):
                raise
            return table.astype(object).reshape(len(table), -1)
