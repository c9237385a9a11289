from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import POSITIVE, check_params
from surefit.perceptrons.base import LinearClassifierMixin
from surefit.perceptrons.batch_training import fit_batch
from surefit.perceptrons.online import RULES
from surefit.perceptrons.schedules import SCHEDULE


class BatchPerceptron(CertifiedMixin, CallbackSupportMixin, LinearClassifierMixin, BaseEstimator):
    r"""Batch perceptron: subgradient descent on the perceptron loss over all misclassified rows.

    .. math::

        J(w, b) = \sum_i s_i \bigl(-t_i (x_i^\top w + b)\bigr)_+, \qquad
        w \leftarrow w + \eta(k) \sum_{i:\, t_i f(x_i) \le 0} s_i t_i x_i .

    Hypothesis class: affine functions. Loss: the perceptron loss. Optimizer: subgradient steps over all rows. The
    result does not depend on the order of the rows, and an integer weight is equivalent to repeating the row.

    Guarantee: with :math:`m_k = \eta(k) \sum s_i` over the misclassified rows,
    :math:`\gamma \sum m_k \le R \sqrt{\sum m_k^2}` holds after every step. With a constant step size, at most
    :math:`n R^2 / \gamma^2` steps are therefore needed (theory: :ref:`batch-perceptron`). The loss of the zero vector
    is zero, so separation is proved by the margin and not by a small loss.

    Parameters
    ----------
    schedule : str or callable, default="inverse_sqrt"
        Step sizes :math:`\eta(k)`, as in :class:`VariableIncrementPerceptron`.
    eta0 : float > 0, default=1.0
        Factor of all step sizes.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    max_iter : int >= 1, default=10000
        Maximum number of steps.
    tol : float >= 0 or None, default=1e-3
        Stop when the mean perceptron loss has not improved by ``tol`` for ``n_iter_no_change`` steps. None means that
        the loss is not checked.
    n_iter_no_change : int >= 1, default=50
        Number of steps without improvement after which the fit stops.
    bias : {"plain", "augmented", "r_squared"}, default="plain"
        Constant feature that represents the intercept: 1, ``bias_constant``, or the largest norm of a row.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    warm_start : bool, default=False
        Whether to start from the weights of the last fit; the schedule is restarted.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The weights, with shapes as in :class:`Perceptron`.
    n_updates_ : int
        Number of steps that changed the weights.
    losses_ : ndarray of shape (n_iter,)
        The perceptron loss before each step, summed over all problems.
    classes_, converged_, ending_, mistakes_per_pass_, n_iter_, certificate_
        As in :class:`Perceptron`; a pass is a step.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    At zero weights every row is misclassified, so the first step adds the sum of all ``t x``:

    >>> import numpy as np
    >>> from surefit import BatchPerceptron
    >>> X, y = np.array([[1.0, 2.0], [2.0, -1.0], [-1.0, 1.0], [-2.0, -1.0]]), np.array([1, 1, -1, -1])
    >>> model = BatchPerceptron(fit_intercept=False).fit(X, y)
    >>> model.coef_, model.n_updates_
    (array([[6., 1.]]), 1)
    >>> model.verify(X, y)["perceptron.batch_replay"].ok
    True
    """

    _rules = {
        **{
            key: RULES[key] for key in ("fit_intercept", "bias", "bias_constant", "max_iter", "tol", "n_iter_no_change")
        },
        **{key: RULES[key] for key in ("warm_start", "max_time")},
        "schedule": SCHEDULE,
        "eta0": POSITIVE,
    }

    def __init__(
        self,
        *,
        schedule="inverse_sqrt",
        eta0=1.0,
        fit_intercept=True,
        max_iter=10_000,
        tol=1e-3,
        n_iter_no_change=50,
        bias="plain",
        bias_constant=1.0,
        warm_start=False,
        max_time=None,
    ):
        self.schedule = schedule
        self.eta0 = eta0
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.bias = bias
        self.bias_constant = bias_constant
        self.warm_start = warm_start
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Fit the model; an integer weight is equivalent to repeating the row. Returns the estimator."""
        check_params(self)
        return fit_batch(self, X, y, sample_weight)
