from sklearn.base import BaseEstimator

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import NOTHING, POSITIVE, Rule, check_params
from surefit.perceptrons.base import LinearClassifierMixin
from surefit.perceptrons.margin_training import fit_margin
from surefit.perceptrons.online import OPEN_FRACTION, RULES

UP_TO_ONE = Rule("a number > 0 and <= 1", lambda v: POSITIVE.allows(v) and v <= 1)


class MarginPerceptron(CertifiedMixin, CallbackSupportMixin, LinearClassifierMixin, BaseEstimator):
    r"""Margin perceptron, which continues until every row has a given margin.

    Rows are scaled to unit length, :math:`\hat x = (x, c) / \|(x, c)\|`, and

    .. math:: \text{if } t_i \hat x_i^\top \hat w < (1 - \varepsilon) \gamma \|\hat w\|: \qquad \hat w \leftarrow \hat w + t_i \hat x_i.

    Hypothesis class: affine functions. Loss: the margin of the unit rows. Optimizer: one row at a time, until a pass
    makes no mistake.

    Guarantee: if some direction has margin :math:`\gamma` on the unit rows, the run ends with margin at least
    :math:`(1 - \varepsilon)\gamma` after at most :math:`12 / \gamma^2` updates for :math:`\varepsilon = 1/2`; two
    sharper bounds are given as well (theory: :ref:`margin-perceptron`). If no direction has this margin, the run proves
    it. Without a given :math:`\gamma`, the search halves :math:`\gamma` until a run ends; the margin reached is then at
    least :math:`\frac{1 - \varepsilon}{2}` of the largest possible margin.

    Parameters
    ----------
    gamma : float in (0, 1] or None, default=None
        Target margin :math:`\gamma`; None searches 1, 1/2, 1/4, ...
    epsilon : float in (0, 1), default=0.5
        Fraction of ``gamma`` by which the margin reached may be smaller.
    min_gamma : float in (0, 1], default=0.01
        Smallest ``gamma`` of the search; the fit ends if the rows are not separable with this margin.
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    max_iter : int >= 1, default=1000
        Maximum number of passes, summed over the runs of the search.
    order : {"cyclic", "shuffled"} or None, default=None
        Order of the rows: as given, or reshuffled for each pass. None means "shuffled".
    bias : {"plain", "augmented", "r_squared"}, default="plain"
        Constant feature :math:`c` that represents the intercept: 1, ``bias_constant``, or the largest norm of a row.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.

    Attributes
    ----------
    coef_, intercept_ : ndarray
        The weights, with shapes as in :class:`Perceptron`.
    gamma_ : ndarray
        Target margin of the last run of each problem.
    update_bounds_ : ndarray of shape (n_problems, 3)
        The three bounds of :func:`margin_perceptron_bounds` for ``gamma_``.
    n_updates_ : int
        Number of updates of the last run, summed over the problems; the first row counts as an update.
    ending_ : str
        separated, refuted (no direction has margin ``gamma``), min_gamma, max_iter, max_time, interrupted or callback.
    classes_, converged_, mistakes_per_pass_, mistake_counts_, n_iter_, certificate_
        As in :class:`Perceptron`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import MarginPerceptron
    >>> X, y = np.array([[3.0, 1.0], [1.0, 3.0], [-1.0, 2.0]]), np.array([1, 1, -1])
    >>> model = MarginPerceptron(fit_intercept=False, order="cyclic").fit(X, y)
    >>> model.gamma_, model.n_updates_ <= model.update_bounds_.min()
    (array([0.5]), np.True_)
    >>> print(round(model.certificate_["perceptron.unit_margin"].value, 4))  # at least 0.25
    0.2895
    """

    _rules = {
        **{
            key: RULES[key]
            for key in ("fit_intercept", "bias", "bias_constant", "max_iter", "random_state", "max_time")
        },
        "gamma": NOTHING | UP_TO_ONE,
        "epsilon": OPEN_FRACTION,
        "min_gamma": UP_TO_ONE,
        "order": Rule("'cyclic', 'shuffled' or None", lambda v: v is None or v in ("cyclic", "shuffled")),
    }

    tol = 0.0  # a run that ends because of the budget always issues a warning

    def __init__(
        self,
        *,
        gamma=None,
        epsilon=0.5,
        min_gamma=0.01,
        fit_intercept=True,
        max_iter=1000,
        order=None,
        bias="plain",
        bias_constant=1.0,
        random_state=0,
        max_time=None,
    ):
        self.gamma = gamma
        self.epsilon = epsilon
        self.min_gamma = min_gamma
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.order = order
        self.bias = bias
        self.bias_constant = bias_constant
        self.random_state = random_state
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y):
        """Fit the model. Returns the estimator."""
        check_params(self)
        return fit_margin(self, X, y)
