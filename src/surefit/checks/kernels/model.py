"""Checks that a kernel machine predicts with the data of its certificate: rows, classes and weights."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from surefit.checks.judge import shared
from surefit.checks.labels import ranks
from surefit.core.certificate import Certificate
from surefit.core.errors import CertificateError
from surefit.core.sample import Data
from surefit.problems.labels import names_of


@shared
def class_codes(certificate: Certificate, data: Data) -> np.ndarray:
    """Return the index of each label among the sorted classes, which must be those of the model."""
    own, classes, y = getattr(certificate.subject, "classes_", None), certificate.problem["classes"], data.target
    if y.dtype.kind == "f":
        classes = np.asarray(classes)
        codes = ranks(classes, y) if classes.dtype.kind == "f" else None
    else:
        labels, found = np.unique(y, return_inverse=True)
        codes, classes = found if names_of(labels) == classes else None, labels
    if codes is None or (own is not None and not np.array_equal(own, classes)):
        raise CertificateError(f"{certificate.estimator}: classes_ are not the sorted labels of y.")
    return codes


def spread_out(lines: Any, rows: Any, n: int) -> np.ndarray:
    """Return coefficients of some elements as coefficients of all elements: one line per function, zero elsewhere."""
    lines, rows = require_elements(lines, rows, n)
    full = np.zeros((len(lines), n))
    full[:, rows] = lines
    return full


def require_elements(lines: Any, rows: Any, n: int) -> tuple[np.ndarray, np.ndarray]:
    """Validate coefficients, one line per function, and the indices of their elements, distinct rows out of ``n``."""
    lines, rows = np.atleast_2d(np.asarray(lines, dtype=np.float64)), np.asarray(rows)
    if rows.dtype.kind not in "iu" or rows.ndim != 1 or lines.ndim != 2 or lines.shape[1] != len(rows):
        raise CertificateError(f"dual_coef_ has the shape {lines.shape}, and there are {rows.size} elements.")
    if len(rows) and not (0 <= rows.min() and rows.max() < n and np.bincount(rows.astype(np.int64)).max() == 1):
        raise CertificateError("The elements of dual_coef_ must be different rows of X.")
    if not np.all(np.isfinite(lines)):
        raise CertificateError("dual_coef_ must be finite.")
    return lines, rows


def require_rows(certificate: Certificate, data: Data, name: str, rows: np.ndarray | None = None) -> None:
    """Raise an error if the stored elements ``name`` of the model are not the training elements ``rows``."""
    stored = getattr(certificate.subject, name, None)
    if stored is None:
        return
    values = getattr(getattr(certificate.subject, "kernel_", None), "takes", "") == "values"
    # rows of a kernel matrix are not vectors
    own = data.X if rows is None else np.empty((0, 0)) if values else data.X[rows]
    if not _equal(stored, own):
        raise CertificateError(
            f"{certificate.estimator}: {name} are not the training rows that the model was fitted on."
        )


def require_codes(certificate: Certificate, data: Data) -> None:
    """Raise an error if the model's classes of its support vectors are not their labels."""
    classes, support = certificate.problem.get("classes") or [0], certificate.model["support_"]
    codes = class_codes(certificate, data)[support] if len(classes) > 1 else np.zeros(len(support), dtype=int)
    for name, own in (("_support_codes", codes), ("n_support_", np.bincount(codes, minlength=len(classes)))):
        if not np.array_equal(getattr(certificate.subject, name, own), own):
            raise CertificateError(f"{certificate.estimator}: {name} are not those of the support rows.")


def require_no_intercept(certificate: Certificate) -> None:
    """Raise an error for a non-zero intercept if none was fitted."""
    if not certificate.problem["fit_intercept"] and np.any(np.asarray(certificate.model["intercept_"]) != 0.0):
        raise CertificateError(f"{certificate.estimator}: intercept_ must be zero with fit_intercept=False.")


def _equal(A: Any, B: Any) -> bool:
    """Whether two matrices have the same entries, dense or sparse: a kernel function gets the rows of a sparse matrix as dense ones."""
    if tuple(np.shape(A)) != tuple(np.shape(B)):
        return False
    if sparse.issparse(A) or sparse.issparse(B):
        return bool((sparse.csr_array(A) != sparse.csr_array(B)).nnz == 0)
    return bool(np.array_equal(A, B))
