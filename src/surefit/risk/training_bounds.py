"""Bounds from training rows alone: the VC bound of a linear classifier, and empirical risk minimization over a finite class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from surefit.bounds.base import NoBound, RiskBound
from surefit.bounds.finite import finite_class
from surefit.bounds.vc_inequality import vc_bound
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.issuing.new_rows import LINEAR, half_space_dimension


def training_error(model, X, y) -> float:
    """Return the fraction of wrong training predictions; a score of exactly zero counts as wrong.

    ``1 - model.score(X, y)`` uses the tie rule of ``predict`` instead; the two differ only on rows with a score of zero.

    Parameters
    ----------
    model : fitted classifier
        With ``decision_function`` for two classes, or only ``predict``.
    X, y : arrays
        Rows and labels.

    Examples
    --------
    >>> from surefit import Perceptron, training_error
    >>> X, y = [[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]], [1, 1, -1, -1]
    >>> training_error(Perceptron(fit_intercept=False, order="cyclic").fit(X, y), X, y)
    0.0
    """
    y = np.asarray(y)
    wrong = np.asarray(model.predict(X)) != y
    if len(np.unique(y)) <= 2 and hasattr(model, "decision_function"):
        scores = np.asarray(model.decision_function(X))
        if scores.ndim == 1:
            wrong = wrong | (scores == 0)
    return float(np.mean(wrong))


def vc_risk_bound(model, X, y, *, delta: float = 0.05, strict: bool = True) -> RiskBound | NoBound:
    r"""Bound the error of a linear classifier on new rows by its training error and the VC dimension of half-spaces.

    .. math:: P(\text{error}) \le \hat L + \sqrt{\tfrac{32}{n} \bigl(V \ln(n + 1) + \ln \tfrac8\delta\bigr)}, \qquad V = d + 1

    (d without intercept). Guarantee: the bound holds with probability :math:`1 - \delta` for independent rows and for
    any choice of the classifier among half-spaces (theory: :ref:`vc-inequality`). Features, scaling and kernels must be
    fixed before the rows are seen. The bound is rarely below 1 (see ``vacuous``); ``surefit.Certified`` gives tighter
    bounds.

    Parameters
    ----------
    model : fitted linear classifier of two classes
        Perceptrons, ``LinearSVC``, ``SVC(kernel="linear")``, ``LogisticRegression``, discriminants, ``SGDClassifier``. For a kernel of
        infinite dimension, the result is :class:`surefit.bounds.NoBound`.
    X, y : arrays
        Its training data.
    delta : float, default=0.05
        Failure probability.
    strict : bool, default=True
        Whether a score of exactly zero counts as an error, as in :func:`training_error`; else ``predict`` decides.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import LogisticRegression, vc_risk_bound
    >>> X = np.random.default_rng(0).standard_normal((20000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> bound = vc_risk_bound(LogisticRegression().fit(X, y), X, y)
    >>> bound.vacuous, round(bound.value, 2)
    (False, 0.24)
    """
    X, y = np.asarray(X), np.asarray(y)
    dimension = half_space_dimension(type(model).__name__, model.get_params(deep=False), X.shape[1])
    if dimension is None:
        raise InvalidParameter("vc_risk_bound", "model", f"a linear classifier ({', '.join(LINEAR)})", model)
    if len(np.unique(y)) != 2:
        raise InvalidData(f"vc_risk_bound: two classes are needed; got {len(np.unique(y))}.")
    error = training_error(model, X, y) if strict else float(np.mean(np.asarray(model.predict(X)) != y))
    return vc_bound(error, len(y), dimension, delta)


class FiniteClassERM(NamedTuple):
    """Classifier of a finite class with the smallest training error, and bounds on its risk."""

    chosen: int  # index of the chosen classifier; ties: the first
    errors: np.ndarray  # (classifiers,) training errors
    risk_bound: RiskBound  # bound on the risk of the chosen classifier
    excess_bound: float  # bound on its risk minus the smallest risk of the class
    classifier: Any

    def predict(self, X) -> np.ndarray:
        """Return the predictions of the chosen classifier."""
        return np.asarray(_rule(self.classifier)(X))


def finite_class_erm(classifiers: Sequence, X, y, *, delta: float = 0.05) -> FiniteClassERM:
    r"""Choose the classifier with the smallest training error among finitely many that were fixed in advance.

    Guarantee: with probability :math:`1 - \delta`, for independent rows, :math:`|R(f) - R_n(f)| \le \varepsilon_0` for
    all classifiers, with :math:`\varepsilon_0 = \sqrt{\ln(2|F|/\delta) / (2n)}`. Hence the risk of the chosen
    classifier is at most its training error plus :math:`\varepsilon_0`, and at most :math:`2 \varepsilon_0` above the
    smallest risk (theory: :ref:`vc-inequality`).

    Parameters
    ----------
    classifiers : sequence
        Functions from rows to labels, or objects with ``predict``, none of which was fitted to these rows.
    X, y : arrays
        Rows and labels.
    delta : float, default=0.05
        Failure probability.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import finite_class_erm
    >>> cuts = [lambda X, t=t: (X[:, 0] > t).astype(int) for t in np.linspace(0, 1, 11)]
    >>> X = np.random.default_rng(0).random((1000, 1))
    >>> found = finite_class_erm(cuts, X, (X[:, 0] > 0.3).astype(int))
    >>> found.chosen, float(found.errors[found.chosen]), round(found.excess_bound, 4)
    (3, 0.0, 0.1103)
    """
    if len(classifiers) == 0:
        raise InvalidData("finite_class_erm: no classifier.")
    y = np.asarray(y)
    errors = np.array([float(np.mean(np.asarray(_rule(c)(X)) != y)) for c in classifiers])
    best = int(np.argmin(errors))
    deviation = finite_class(len(classifiers), n=len(y), delta=delta)
    return FiniteClassERM(
        best, errors, deviation.risk(float(errors[best])), 2 * float(deviation.radius), classifiers[best]
    )


def _rule(classifier: Any) -> Any:
    return getattr(classifier, "predict", classifier)
