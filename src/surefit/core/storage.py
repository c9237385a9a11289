"""Storage of matrices."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse


def is_sparse(X: Any) -> bool:
    """Return whether ``X`` is a sparse matrix; SciPy's own test is slow for arrays, which most matrices are.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.core.storage import is_sparse
    >>> is_sparse(np.eye(2))
    False
    """
    return type(X) is not np.ndarray and sparse.issparse(X)
