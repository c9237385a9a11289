r"""Relative gap that a model's own stopping rule allows, as a share of the objective of the best constant.

Each library has its own stopping rule, and an audit should not be stricter than the rule that the model was fitted
with. With ``n`` rows, ``p`` coefficients and ``K`` classes:

- coordinate descent (``Lasso``, ``ElasticNet``) stops at a gap of ``tol`` times :math:`\|y\|^2 / n`, which is a
  relative gap of 2 ``tol``;
- quasi-Newton and Newton methods of ``LogisticRegression`` stop when no partial derivative of the mean loss plus
  :math:`\|w\|^2 / (2 C n)` exceeds ``tol``. By strong convexity the gap is then at most :math:`(p + K)\, tol^2\, C n / 2`;
- SMO (``SVC``, ``SVR``) stops when no pair of rows violates the optimality conditions by more than ``tol``.
  Each row then adds at most ``C tol`` to the gap and ``C`` to the objective of the zero function, which gives a
  relative gap of ``tol``.

Other rules measure the size of a step or the progress of one pass and imply no bound on the gap; ``tol`` itself is used
for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

DEFAULT = 1e-4
LEAST, MOST = 1e-9, 1.0  # limits: rounding of the objectives; a gap of 1 is vacuous
BY_GRADIENT = ("lbfgs", "newton-cg", "newton-cholesky")


def own_tolerance(model: Any, X: Any) -> float:
    """Return the relative gap up to which a fitted model satisfies its own ``tol``.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.linear_model import Lasso
    >>> from surefit.audit.tolerances import own_tolerance
    >>> own_tolerance(Lasso(tol=1e-3), np.zeros((10, 2)))
    0.002
    """
    last = model.steps[-1][1] if hasattr(model, "steps") else model
    tol = getattr(last, "tol", None)
    if not isinstance(tol, (int, float)) or isinstance(tol, bool) or not tol > 0:
        return DEFAULT
    rule = RULES.get(type(last).__name__, _plainly)
    return float(min(max(rule(last, float(tol), int(np.shape(X)[0])), LEAST), MOST))


def _plainly(model: Any, tol: float, n: int) -> float:
    return tol


def _twice(model: Any, tol: float, n: int) -> float:
    return 2.0 * tol


def _logistic(model: Any, tol: float, n: int) -> float:
    if model.solver not in BY_GRADIENT:
        return tol
    C = float(np.max(getattr(model, "C_", getattr(model, "C", 1.0))))
    classes = len(model.classes_)
    largest = (np.size(model.coef_) + classes) * tol**2 * C * n / 2.0 if math.isfinite(C) else tol
    return largest / math.log(classes)


RULES: dict[str, Callable[[Any, float, int], float]] = {
    **dict.fromkeys(
        ("Lasso", "ElasticNet", "LassoCV", "ElasticNetCV", "MultiTaskLasso", "MultiTaskElasticNet"), _twice
    ),
    **dict.fromkeys(("LogisticRegression", "LogisticRegressionCV"), _logistic),
}
