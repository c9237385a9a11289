from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import check_params
from surefit.perceptrons.base import positions
from surefit.perceptrons.log import MistakeLogMixin
from surefit.perceptrons.online import RULES
from surefit.perceptrons.votes import fit_voted, partial_fit_voted, votes


class VotedPerceptron(CertifiedMixin, CallbackSupportMixin, MistakeLogMixin, ClassifierMixin, BaseEstimator):
    r"""Voted perceptron: every weight vector votes, weighted by the number of rows for which it was used.

    .. math:: f(x) = \frac1T \sum_{j=0}^k c_j \operatorname{sign}(x^\top w_j + b_j), \qquad \sum_j c_j = T,

    where :math:`w_j` are the weights after update :math:`j`, and :math:`c_j` the number of rows for which they were
    used.

    Hypothesis class: votes of affine functions. Loss: the perceptron loss. Optimizer: one row at a time.

    Guarantee: the certificate proves the run and the survival counts (theory: :ref:`novikoff`). After a single pass
    over two classes it also bounds the risk of the vote by twice the mean risk of the voters.

    Parameters
    ----------
    fit_intercept : bool, default=True
        Whether to fit an intercept :math:`b`.
    max_iter : int >= 1, default=10
        Maximum number of passes. Every mistake adds one voter.
    tol : float >= 0 or None, default=None
        Stop when the mean perceptron loss of a pass has not improved by ``tol`` for ``n_iter_no_change`` passes. A pass
        without mistakes always ends the fit. None means that the fit continues for ``max_iter`` passes.
    n_iter_no_change : int >= 1, default=5
        Number of passes without improvement after which the fit stops.
    order : {"cyclic", "shuffled", "random"}, array of int or None, default=None
        Order of the rows: as given, reshuffled for each pass, drawn with replacement, or a permutation of the rows
        that every pass follows. None means "shuffled".
    mistake : {"<=0", "<0", "sign"}, default="<=0"
        Which margins are mistakes, as in :class:`Perceptron`.
    bias : {"plain", "augmented", "r_squared"}, default="plain"
        Constant feature that represents the intercept: 1, ``bias_constant``, or the largest norm of a row.
    bias_constant : float > 0, default=1.0
        The constant of ``bias="augmented"``.
    n_jobs : int or None, default=None
        Number of threads for more than two classes; the result is bitwise identical for any number.
    random_state : int, RandomState or None, default=0
        Seed for the order of the rows.
    warm_start : bool, default=False
        Whether to start from the last weights; earlier voters keep their votes.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.
    confidence : float in (0, 1), default=0.95
        Confidence of the risk bound.

    Attributes
    ----------
    support_vectors_ : ndarray or CSR matrix
        The rows on which updates were made.
    update_support_ : ndarray of int
        Index of the support vector of each update; the updates of problem ``p`` start at ``problem_starts_[p]``.
    update_sign_ : ndarray
        Sign of each update.
    survivals_ : ndarray
        Number of steps for which the weights before the first update and after each update were used, for each problem.
    last_coef_, last_intercept_ : ndarray
        The weights after the last step.
    classes_, n_updates_, converged_, ending_, mistakes_per_pass_, mistake_counts_, mistake_log_, n_iter_, certificate_
        As in :class:`Perceptron`.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import VotedPerceptron
    >>> X, y = np.array([[1.0], [2.0]]), np.array([-1, 1])
    >>> model = VotedPerceptron(order="cyclic").fit(X, y)
    >>> model.n_updates_, int(model.survivals_.sum()), 2 * model.n_iter_
    (13, 18, 18)
    >>> model.predict(X)
    array([-1,  1])
    """

    _rules = {key: rule for key, rule in RULES.items() if key != "max_log"}

    def __init__(
        self,
        *,
        fit_intercept=True,
        max_iter=10,
        tol=None,
        n_iter_no_change=5,
        order=None,
        mistake="<=0",
        bias="plain",
        bias_constant=1.0,
        n_jobs=None,
        random_state=0,
        warm_start=False,
        max_time=None,
        confidence=0.95,
    ):
        self.fit_intercept = fit_intercept
        self.max_iter = max_iter
        self.tol = tol
        self.n_iter_no_change = n_iter_no_change
        self.order = order
        self.mistake = mistake
        self.bias = bias
        self.bias_constant = bias_constant
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.warm_start = warm_start
        self.max_time = max_time
        self.confidence = confidence

    @with_callbacks
    def fit(self, X, y):
        """Fit the model. Returns the estimator."""
        check_params(self)
        return fit_voted(self, X, y)

    def partial_fit(self, X, y, classes=None):
        """Process new rows once, in the given order; the first call requires all ``classes``. Returns the estimator."""
        check_params(self)
        return partial_fit_voted(self, X, y, classes)

    def decision_function(self, X):
        """Return the mean votes from -1 to 1: one per row for two classes, one per row and class for more."""
        check_is_fitted(self)
        scores = votes(self, X)
        return scores.ravel() if scores.shape[1] == 1 else scores

    def predict(self, X):
        """Return the class of each row; ties go to the first class."""
        scores = self.decision_function(X)
        return self.classes_[positions(self, scores)]

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
