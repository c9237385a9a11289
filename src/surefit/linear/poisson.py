from surefit.linear.deviance import DevianceRegressor
from surefit.losses import Poisson


class PoissonRegressor(DevianceRegressor):
    r"""Poisson regression with a logarithmic link and an l2 penalty.

    .. math::

        P(w, b) = \frac1S \sum_i s_i \left[e^{z_i} - y_i z_i + y_i \ln y_i - y_i\right] + \tfrac\alpha2 \|w\|^2,
        \qquad z_i = x_i^\top w + b,

    half the mean deviance plus the penalty. Hypothesis class: exponentials of affine functions. Loss: Poisson deviance.
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
    With uninformative features, the prediction is the mean count:

    >>> import numpy as np
    >>> from surefit import PoissonRegressor
    >>> model = PoissonRegressor().fit(np.zeros((4, 1)), np.array([0.0, 1.0, 2.0, 5.0]))
    >>> print(model.predict(np.zeros((1, 1))).round(6))
    [2.]
    >>> model.certificate_["linear.gap"].holds
    True
    """

    def _loss(self) -> Poisson:
        return Poisson()

    def _deviance_power(self) -> float:
        return 1.0
