"""Points inside and outside an ellipse: linearly separable after a quadratic feature map."""

from __future__ import annotations

import math

import numpy as np
from sklearn.utils import check_random_state

from surefit.core.errors import InvalidData
from surefit.core.validation import COUNT, POSITIVE
from surefit.data.points import Sample, require


def make_ellipse(
    n_samples: int = 200, *, matrix=((2.0, 0.5), (0.5, 1.0)), threshold: float = 1.0, random_state=None
) -> Sample:
    r"""Draw points in a square, with label 1 outside the ellipse :math:`x^\top A x \le c` and -1 inside.

    The features :math:`(x_1^2, \sqrt2 x_1 x_2, x_2^2)` of the kernel :math:`\langle x, x'\rangle^2` make the classifier linear, with
    weights :math:`(a_{11}, \sqrt2 a_{12}, a_{22})` and threshold c.

    Parameters
    ----------
    n_samples : int >= 1, default=200
        Number of rows, uniform on a square whose half-width is 1.5 times that of the ellipse.
    matrix : array of shape (2, 2), default=((2, 0.5), (0.5, 1))
        Symmetric positive definite A.
    threshold : float > 0, default=1.0
        The threshold c.
    random_state : int, RandomState or None
        Seed.

    Returns
    -------
    Sample
        ``truth`` has ``matrix``, ``threshold``, ``coef`` and ``intercept`` in the features, and ``bayes_risk`` (zero).

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.data import make_ellipse
    >>> X, y, truth = make_ellipse(random_state=0)
    >>> features = np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])
    >>> bool(np.all(y * (features @ truth["coef"] + truth["intercept"]) > 0))
    True
    """
    require("make_ellipse", n_samples=(n_samples, COUNT), threshold=(threshold, POSITIVE))
    A = np.asarray(matrix, dtype=np.float64)
    if A.shape != (2, 2) or A[0, 1] != A[1, 0] or np.linalg.eigvalsh(A)[0] <= 0:
        raise InvalidData(f"make_ellipse: matrix must be 2 x 2, symmetric and positive definite; got {A.tolist()!r}.")
    half = 1.5 * math.sqrt(threshold / float(np.linalg.eigvalsh(A)[0]))
    X = check_random_state(random_state).uniform(-half, half, (n_samples, 2))
    y = np.where(np.einsum("ij,jk,ik->i", X, A, X) > threshold, 1, -1)
    truth = {
        "matrix": A,
        "threshold": float(threshold),
        "coef": np.array([A[0, 0], math.sqrt(2) * A[0, 1], A[1, 1]]),
        "intercept": -float(threshold),
        "bayes_risk": 0.0,
    }
    return Sample(X, y, truth)
