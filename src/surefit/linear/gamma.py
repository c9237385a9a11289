from surefit.linear.deviance import DevianceRegressor
from surefit.losses import Tweedie


class GammaRegressor(DevianceRegressor):
    r"""Gamma regression of positive targets, with a logarithmic link and an l2 penalty.

    .. math::

        P(w, b) = \frac1S \sum_i s_i \left[y_i e^{-z_i} + z_i - \ln y_i - 1\right] + \tfrac\alpha2 \|w\|^2,
        \qquad z_i = x_i^\top w + b,

    half the mean deviance plus the penalty. Hypothesis class: exponentials of affine functions. Loss: gamma deviance.
    Optimizer: Newton's method.

    ``fit``, ``predict``, ``score`` and ``verify`` accept an ``offset``: a known term of each row's score, such as the
    logarithm of its exposure.

    Guarantee: :math:`P(w, b) - \min P \le` ``dual_gap_`` (theory: :ref:`fenchel-gap`).

    Parameters
    ----------
    alpha : float >= 0, default=1.0
        Weight of the penalty.
    fit_intercept : bool, default=True
        Whether to fit :math:`b`; it is never penalized.
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
    With uninformative features, the prediction is the mean:

    >>> import numpy as np
    >>> from surefit import GammaRegressor
    >>> model = GammaRegressor().fit(np.zeros((4, 1)), np.array([1.0, 1.0, 2.0, 4.0]))
    >>> print(model.predict(np.zeros((1, 1))).round(6))
    [2.]
    >>> model.certificate_["linear.gap"].holds
    True
    """

    def _loss(self) -> Tweedie:
        return Tweedie(2.0)

    def _deviance_power(self) -> float:
        return 2.0
