from __future__ import annotations

from typing import Any

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import REAL, one_of
from surefit.linear.deviance import DevianceRegressor
from surefit.losses import Squared, Tweedie


class TweedieRegressor(DevianceRegressor):
    r"""Tweedie regression (variance proportional to a power of the mean) with an l2 penalty.

    .. math::

        P(w, b) = \frac{1}{2S} \sum_i s_i \, d_p(y_i, \mu_i) + \tfrac\alpha2 \|w\|^2, \qquad
        \ln \mu_i = x_i^\top w + b \quad (\mu_i = x_i^\top w + b \text{ for } p = 0),

    with the deviance :math:`d_p`: normal for :math:`p = 0`, Poisson for 1, compound Poisson-gamma between 1 and 2
    (zeros and positive amounts), gamma for 2. For these powers the objective is convex.

    Hypothesis class: exponentials of affine functions. Loss: Tweedie deviance. Optimizer: Newton's method.

    ``fit``, ``predict``, ``score`` and ``verify`` accept an ``offset``: a known term of each row's score, such as the
    logarithm of its exposure.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    power : float, default=0.0
        0, or a number from 1 to 2. Other powers do not give a convex objective and raise an error.
    alpha : float >= 0, default=1.0
        Weight of the penalty.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
    link : {"auto", "identity", "log"}, default="auto"
        "auto" is the identity for power 0 and the logarithm otherwise; other combinations raise an error.
    solver
        Accepted for compatibility with scikit-learn; no effect.
    verbose : int, default=0
        If nonzero, print one line per check of the gap.
    max_iter : int >= 1, default=100
        Maximum number of Newton steps; if it is reached, ``fit`` issues a ``ConvergenceWarning``.
    tol : float >= 0, default=1e-4
        Relative duality gap: stop when the gap is at most ``tol`` times the objective of the best constant.
    warm_start : bool, default=False
        Whether to start from the coefficients of the last fit.
    max_time : float > 0 or None, default=None
        Time limit in seconds, after which the best point so far is returned with its gap.

    Attributes
    ----------
    coef_, intercept_, n_iter_, history_, dual_gap_, certificate_, n_features_in_, feature_names_in_
        As in :class:`LinearModel`.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import TweedieRegressor
    >>> X, y = np.zeros((4, 1)), np.array([0.0, 0.0, 2.0, 6.0])
    >>> model = TweedieRegressor(power=1.5, tol=1e-10).fit(X, y)
    >>> print(model.predict(X[:1]).round(6))
    [2.]
    >>> model.certificate_["linear.gap"].holds
    True
    """

    _rules = {**DevianceRegressor._rules, "power": REAL, "link": one_of("auto", "identity", "log")}

    def __init__(
        self,
        *,
        power=0.0,
        alpha=1.0,
        fit_intercept=True,
        link="auto",
        solver="lbfgs",
        max_iter=100,
        tol=1e-4,
        warm_start=False,
        verbose=0,
        max_time=None,
    ):
        self.power = power
        self.alpha = alpha
        self.fit_intercept = fit_intercept
        self.link = link
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.verbose = verbose
        self.max_time = max_time

    def _loss(self) -> Any:
        if self.power != 0 and not 1 <= self.power <= 2:
            wanted = "0 or a number from 1 to 2 (for others use sklearn.linear_model.TweedieRegressor, without a certificate)"
            raise InvalidParameter("TweedieRegressor", "power", wanted, self.power)
        if self.link not in ("auto", "identity" if self.power == 0 else "log"):
            wanted = "'identity' for power 0 and 'log' for powers from 1 to 2, or 'auto'"
            raise InvalidParameter("TweedieRegressor", "link", wanted, self.link)
        return Squared() if self.power == 0 else Tweedie(float(self.power))

    def _deviance_power(self) -> float:
        return float(self.power)

    def predict(self, X, offset=None) -> np.ndarray:
        """Return the expected target of each row: ``exp(x'w + b + offset)``, or ``x'w + b + offset`` for power 0."""
        return self._linear(X, offset) if self.power == 0 else super().predict(X, offset)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = self.power != 0
        return tags
