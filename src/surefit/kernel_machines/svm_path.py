"""Regularization paths of support vector machines: classifiers over a range of C, regressors over values of epsilon."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefit.core.budget import Reason
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.issuing.state import dense
from surefit.kernel_machines.svc import SVC
from surefit.kernel_machines.svm_machine import SupportMixin
from surefit.kernel_machines.svr import SVR
from surefit.kernels import Kernel

FINER = 0.05  # fraction of the gap ``eps`` to which each knot is solved
MOST_KNOTS = 10_000


@dataclass(frozen=True, eq=False)
class SVCPath:
    r"""Support vector classifiers for every C between ``Cs[0]`` and ``Cs[-1]``.

    The classifier of a knot is used up to the next knot. Its gap at any C in between is at most ``gap_at(C)``, which is
    at most ``eps`` times the objective (theory: :ref:`svm-path`).

    Parameters
    ----------
    Cs : ndarray of shape (n_knots,)
        Knots in increasing order.
    dual_coefs : ndarray of shape (n_knots, n_rows)
        Signed dual coefficients of all rows.
    intercepts, objectives, gaps, norms, slacks : ndarray of shape (n_knots,)
        Intercept, objective, proved gap, norm of the function, and weighted sum of slacks of each knot.
    eps : float
        Relative gap that holds at every C of the range.
    kernel : Kernel
        The kernel.
    X : array
        The training sample.
    classes : ndarray of shape (2,)
        Labels; a positive score means the second class.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import svc_path
    >>> path = svc_path(np.array([[0.0], [1.0], [3.0], [5.0]]), [0, 0, 1, 1], C_range=(0.05, 1.0), kernel="linear", eps=0.01)
    >>> bool(path.gap_at(0.3) <= 0.01 * path.objective_at(0.3)), round(float(path.norms[-1]), 3)
    (True, 1.0)
    """

    Cs: np.ndarray
    dual_coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    norms: np.ndarray
    slacks: np.ndarray
    eps: float
    kernel: Kernel
    X: Any
    classes: np.ndarray

    @property
    def margins(self) -> np.ndarray:
        """Margins ``1 / norm`` in the kernel's space."""
        with np.errstate(divide="ignore"):
            return 1.0 / self.norms

    @property
    def n_support(self) -> np.ndarray:
        """Number of support rows at each knot."""
        return np.count_nonzero(self.dual_coefs, axis=1)

    def knot(self, C: float) -> int:
        """Return the index of the knot used at ``C``, the largest knot that is at most ``C``."""
        if not self.Cs[0] <= C <= self.Cs[-1]:
            raise InvalidParameter("SVCPath", "C", f"from {self.Cs[0]:.6g} to {self.Cs[-1]:.6g}", C)
        return int(np.searchsorted(self.Cs, C, side="right")) - 1

    def objective_at(self, C: float) -> float:
        """Return the objective at ``C`` of the classifier used there."""
        k = self.knot(C)
        return float(0.5 * self.norms[k] ** 2 + C * self.slacks[k])

    def gap_at(self, C: float) -> float:
        """Return a proved bound on the suboptimality of the classifier used at ``C``."""
        k = self.knot(C)
        alphas = float(np.abs(self.dual_coefs[k]).sum())
        return self.objective_at(C) - best_dual(C / self.Cs[k], alphas, self.norms[k] ** 2)

    def decision_function(self, X, C: float) -> np.ndarray:
        """Return the scores of the rows at ``C``."""
        k = self.knot(C)
        support = np.flatnonzero(self.dual_coefs[k])
        machine = SupportMixin()
        machine.kernel_, machine.support_ = self.kernel, support
        machine.support_vectors_ = None if self.kernel.takes == "values" else self.kernel.read(self.X)[support]
        sample = self.kernel.read(X)
        return machine._functions(sample, self.dual_coefs[k : k + 1, support]).ravel() + self.intercepts[k]


def best_dual(stretch: float, alphas: float, square: float) -> float:
    r"""Return the largest dual value over the multiples of a dual vector by factors up to ``stretch``.

    :math:`\max_{\kappa \le s} \kappa \sum\alpha - \tfrac12 \kappa^2 \|f\|^2`.
    """
    kappa = stretch if square <= 0.0 else min(stretch, alphas / square)
    return kappa * alphas - 0.5 * kappa**2 * square


def svc_path(X, y, *, C_range=(1e-2, 1e2), eps: float = 0.01, sample_weight=None, **options) -> SVCPath:
    r"""Fit support vector classifiers for a range of C, with a proved relative gap at every C.

    The distance between two knots follows from the gap: at :math:`C = \kappa C_k`, the model of knot k with its dual
    vector multiplied by :math:`\kappa` has a gap of about :math:`\tfrac12 (\kappa - 1)^2 \|f\|^2`. Each fit is
    warm-started from the previous one.

    Guarantee: at every C of the range, the gap of the path's classifier is at most ``eps`` times its objective (theory:
    :ref:`svm-path`).

    Parameters
    ----------
    X, y, sample_weight
        Training data with two classes.
    C_range : pair of floats, 0 < low < high
        Range of C.
    eps : float in (0, 1)
        Relative gap.
    **options
        Parameters of :class:`SVC` other than C (kernel, gamma, fit_intercept, ...).

    Returns
    -------
    SVCPath
        Path that can be evaluated at any C of the range.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from surefit import svc_path
    >>> X, y = load_iris(return_X_y=True)
    >>> path = svc_path(X[50:], y[50:], C_range=(0.1, 10.0), eps=0.05)
    >>> bool((path.gaps <= 0.05 * path.objectives).all()), bool((path.norms[1:] >= path.norms[:-1] - 0.1).all())
    (True, True)
    """
    low, high = _range("svc_path", C_range)
    if not 0 < eps < 1:
        raise InvalidParameter("svc_path", "eps", "a number > 0 and < 1", eps)
    model = SVC(**{"tol": FINER * eps, "gamma": "scale", **options, "C": low, "warm_start": True})
    lines, C = [], low
    while True:
        model.set_params(C=C).fit(X, y, sample_weight)
        if len(model.classes_) != 2:
            raise InvalidData(f"svc_path: y must have two classes; it has {len(model.classes_)}.")
        beta = np.zeros(model.shape_fit_[0])
        beta[model.support_] = dense(model.dual_coef_)[0]
        norm = float(model.rkhs_norm_[0])
        slack = max((model.objective_ - 0.5 * norm**2) / C, 0.0)
        lines.append((C, beta, float(model.intercept_[0]), model.objective_, model.dual_gap_, norm, slack))
        if C >= high or len(lines) >= MOST_KNOTS or _stopped(model):
            break
        C = min(high, _furthest(C, float(np.abs(beta).sum()), norm**2, slack, eps, high))
    Cs, betas, intercepts, objectives, gaps, norms, slacks = (np.array(column) for column in zip(*lines, strict=True))
    if Cs[-1] < high and not _stopped(model):
        raise InvalidParameter("svc_path", "eps", f"large enough for {MOST_KNOTS} knots to cover the range", eps)
    return SVCPath(Cs, betas, intercepts, objectives, gaps, norms, slacks, float(eps), model.kernel_, X, model.classes_)


@dataclass(frozen=True, eq=False)
class SVRPath:
    """Support vector regressions for several half-widths of the tube, each with its proved gap.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import svr_path
    >>> x = np.linspace(0, 1, 20)
    >>> path = svr_path(x[:, None], x, epsilons=[0.6, 0.1, 0.01], kernel="linear", C=10.0)
    >>> path.n_support[0]  # the tube holds a constant
    np.int64(0)
    """

    epsilons: np.ndarray
    dual_coefs: np.ndarray
    intercepts: np.ndarray
    objectives: np.ndarray
    gaps: np.ndarray
    norms: np.ndarray
    outside: np.ndarray
    kernel: Kernel

    @property
    def n_support(self) -> np.ndarray:
        """Number of support rows of each tube."""
        return np.count_nonzero(self.dual_coefs, axis=1)


def svr_path(X, y, *, epsilons=None, sample_weight=None, **options) -> SVRPath:
    r"""Fit support vector regressions for decreasing half-widths of the tube, with warm starts.

    Guarantee: each fit has a proved gap (theory: :ref:`svm-gap`). If the half-width is at least half the range of the
    targets, the function is constant and there are no support vectors.

    Parameters
    ----------
    X, y, sample_weight
        Training data.
    epsilons : array or None
        Half-widths; None means 20 values from half the range of the targets down to a thousandth of that.
    **options
        Parameters of :class:`SVR` other than epsilon.

    Returns
    -------
    SVRPath
        Half-widths in decreasing order, dual coefficients, gaps, norms, and the fraction of rows outside each tube.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import svr_path
    >>> X, y = load_diabetes(return_X_y=True)
    >>> path = svr_path(X, y, C=100.0)
    >>> bool((path.gaps <= 1e-3 * path.objectives + 1e-9).all()), int(path.n_support[0]), int(path.n_support[-1]) > 400
    (True, 0, True)
    """
    half = 0.5 * float(np.ptp(np.asarray(y, dtype=np.float64)))
    widths = (
        half * np.geomspace(1.0, 1e-3, 20)
        if epsilons is None
        else np.sort(np.asarray(epsilons, dtype=np.float64))[::-1]
    )
    model = SVR(**{**options, "warm_start": True})
    lines = []
    for epsilon in widths:
        model.set_params(epsilon=float(epsilon)).fit(X, y, sample_weight)
        beta = np.zeros(model.shape_fit_[0])
        beta[model.support_] = dense(model.dual_coef_)[0]
        outside = float(np.mean(np.isin(model.points_, ("above", "below"))))
        lines.append((beta, model.intercept_[0], model.objective_, model.dual_gap_, model.rkhs_norm_, outside))
        if _stopped(model):
            break
    betas, intercepts, objectives, gaps, norms, out = (np.array(column) for column in zip(*lines, strict=True))
    return SVRPath(widths[: len(lines)], betas, intercepts, objectives, gaps, norms, out, model.kernel_)


def _furthest(C: float, alphas: float, square: float, slack: float, eps: float, high: float) -> float:
    """Return the largest C (at least ``1.000001 * C``) up to which the relative gap of a knot is at most ``eps``."""

    def within(kappa: float) -> bool:
        objective = 0.5 * square + kappa * C * slack
        return objective - best_dual(kappa, alphas, square) <= eps * objective

    low, top = 1.0 + 1e-6, high / C
    if top <= low or within(top):
        return high
    while top - low > 1e-6 * low:
        middle = 0.5 * (low + top)
        low, top = (middle, top) if within(middle) else (low, middle)
    return C * low


def _stopped(model) -> bool:
    """Whether the path must end because of the time limit, Ctrl-C or a callback."""
    return model.certificate_.run["reason"] in (Reason.MAX_TIME, Reason.INTERRUPTED, Reason.CALLBACK)


def _range(who: str, pair) -> tuple[float, float]:
    low, high = (float(value) for value in pair)
    if not 0 < low < high < np.inf:
        raise InvalidParameter(who, "C_range", "a pair 0 < low < high of finite numbers", pair)
    return low, high
