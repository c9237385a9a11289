from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.metrics import r2_score

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import check_params, one_of
from surefit.neural.base import NetworkMixin, has_partial_fit, require_no_early_stop
from surefit.neural.fit import fit_network
from surefit.neural.numbers import read_targets, read_validation
from surefit.neural.parameters import RULES
from surefit.solvers.networks.outputs import Output

OUTPUTS = {"squared_error": Output("identity", "half_squares"), "poisson": Output("exp", "poisson")}


class MLPRegressor(CertifiedMixin, CallbackSupportMixin, NetworkMixin, RegressorMixin, BaseEstimator):
    r"""Multi-layer perceptron regressor.

    .. math::

        J(\vartheta) = \frac{1}{S} \Bigl[ \sum_i s_i \varphi(y_i, f_\vartheta(x_i))
            + \frac{\alpha}{2} \|w\|^2 \Bigr], \qquad S = \sum_i s_i,

    :math:`f_\vartheta(x) = W_L^\top \sigma(\dots \sigma(W_1^\top x + b_1) \dots) + b_L`, with half the squared error,
    summed over the targets, or half the Poisson deviance of :math:`e^f`.

    Hypothesis class: networks of the given layers and links. Loss: squared error or Poisson deviance. Optimizer: see
    ``solver``.

    Guarantee: ``certificate_`` states, for the returned weights and all rows, the objective, the norm of its gradient,
    and an upper bound on the decrease that a better last layer could achieve (theory: :ref:`network-stationarity`). The
    certificate makes no claim about other minima.

    Parameters
    ----------
    loss : {'squared_error', 'poisson'}, default='squared_error'
        Loss :math:`\varphi`; 'poisson' requires :math:`y \ge 0` and predicts :math:`e^f`.
    hidden_layer_sizes : int or list of int, default=(100,)
        Number of units of each hidden layer; an empty list gives a network without hidden layers.
    activation : str, default='relu'
        Activation of the hidden units: 'identity', 'logistic', 'tanh', 'relu', 'standard' (:math:`\tanh(x/2)`),
        'arctan' (:math:`\tfrac2\pi \arctan x`), 'gaussian' (:math:`2\Phi(x) - 1`), and the versions of the last two
        with limits 0 and 1, 'cauchy_cdf' and 'normal_cdf'. 'threshold' and 'step' have no useful gradient and can be
        set only after the fit, for prediction.
    solver : {'adam', 'sgd', 'lbfgs', 'gd'}, default='adam'
        'adam' and 'sgd' use mini-batches; 'lbfgs' and 'gd' (gradient descent with a line search) use all rows.
    alpha : float >= 0, default=0.0001
        Weight decay :math:`\alpha`; biases are not penalized.
    batch_size : int or 'auto', default='auto'
        Number of rows per step; 'auto' means min(200, n).
    learning_rate : {'constant', 'invscaling', 'adaptive'}, default='constant'
        Learning-rate schedule of 'sgd': constant, divided by (rows seen + 1) to the power ``power_t``, or divided by 5
        when progress stops.
    learning_rate_init : float > 0, default=0.001
        Initial learning rate; for 'gd', half of the first step size.
    power_t : float >= 0, default=0.5
        Exponent of 'invscaling'.
    max_iter : int >= 1, default=200
        Maximum number of passes over the data (epochs, or iterations on all rows); reaching it issues a
        ``ConvergenceWarning``.
    shuffle : bool, default=True
        Whether to shuffle the rows before each epoch.
    random_state : int, RandomState, Generator or None, default=None
        Seed for the starting weights, the shuffles and the validation rows. With an integer, results are bitwise
        reproducible on any number of cores; starting weights, batches and validation rows are those of scikit-learn for
        the same integer.
    tol : float >= 0, default=1e-4
        For 'adam' and 'sgd', an epoch makes progress if it decreases the loss (or increases the validation score) by
        ``tol``. For 'lbfgs' and 'gd', stop when no derivative of the objective is larger than ``tol`` in absolute
        value.
    verbose : bool, default=False
        If nonzero, print one line per epoch.
    warm_start : bool, default=False
        Whether to start from the weights of the previous fit.
    momentum : float in [0, 1], default=0.9
        Momentum of 'sgd'.
    nesterovs_momentum : bool, default=True
        Whether 'sgd' uses Nesterov's momentum.
    early_stopping : bool, default=False
        Whether to measure progress by the score on validation rows and to restore the best weights.
    validation_fraction : float in [0, 1), default=0.1
        Fraction of rows held out by ``early_stopping``, unless ``fit`` is given ``X_val``.
    beta_1, beta_2 : float in [0, 1), default=0.9 and 0.999
        Decay rates of Adam's running means.
    epsilon : float > 0, default=1e-8
        Numerical stability constant of Adam.
    n_iter_no_change : int >= 1 or inf, default=10
        Number of epochs without progress before stopping.
    max_fun : int >= 1, default=15000
        Maximum number of function evaluations of 'lbfgs'.
    links : list or None, default=None
        One entry per layer of links: None (all links), a mask, or an integer table of shape (units below, units above)
        with -1 for no link and equal numbers for shared weights; see :func:`surefit.local_links`. A shared weight is
        one parameter and is decayed once.
    polish : bool, default=False
        Whether to solve the last layer to optimality on all rows after training, if that problem is convex. The
        certificate then states a relative gap of at most ``tol``.
    max_time : float > 0 or None, default=None
        Time limit in seconds. Ctrl-C has the same effect.

    Attributes
    ----------
    coefs_, intercepts_ : lists of ndarray
        Weights (units below, units above) and biases, layer by layer.
    loss_curve_ : list of float
        Mean loss of the batches of each epoch, including the penalty; the objective after each iteration for 'lbfgs'
        and 'gd'.
    validation_loss_curve_, validation_scores_ : lists of float, or None
        Mean loss (without the penalty) and score of the validation rows after each epoch.
    loss_, best_loss_, best_validation_score_, n_iter_, t_, n_layers_, n_outputs_, out_activation_
        As in scikit-learn.
    n_links_, n_parameters_ : int
        Number of links (including those from the constant unit) and of free parameters.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import MLPRegressor
    >>> X = np.linspace(-2, 2, 40)[:, None]
    >>> y = np.sin(2 * X[:, 0])
    >>> model = MLPRegressor(hidden_layer_sizes=(8,), activation="standard", solver="lbfgs", max_iter=2000, random_state=0)
    >>> model = model.fit(X, y)
    >>> bool(np.max(np.abs(model.predict(X) - y)) < 0.05), model.n_parameters_ == 8 * (1 + 2) + 1
    (True, True)
    """

    _rules = {**RULES, "loss": one_of("squared_error", "poisson")}

    def __init__(
        self,
        loss="squared_error",
        hidden_layer_sizes=(100,),
        activation="relu",
        *,
        solver="adam",
        alpha=0.0001,
        batch_size="auto",
        learning_rate="constant",
        learning_rate_init=0.001,
        power_t=0.5,
        max_iter=200,
        shuffle=True,
        random_state=None,
        tol=1e-4,
        verbose=False,
        warm_start=False,
        momentum=0.9,
        nesterovs_momentum=True,
        early_stopping=False,
        validation_fraction=0.1,
        beta_1=0.9,
        beta_2=0.999,
        epsilon=1e-8,
        n_iter_no_change=10,
        max_fun=15000,
        links=None,
        polish=False,
        max_time=None,
    ):
        self.loss = loss
        self.hidden_layer_sizes = hidden_layer_sizes
        self.activation = activation
        self.solver = solver
        self.alpha = alpha
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.learning_rate_init = learning_rate_init
        self.power_t = power_t
        self.max_iter = max_iter
        self.shuffle = shuffle
        self.random_state = random_state
        self.tol = tol
        self.verbose = verbose
        self.warm_start = warm_start
        self.momentum = momentum
        self.nesterovs_momentum = nesterovs_momentum
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.beta_1 = beta_1
        self.beta_2 = beta_2
        self.epsilon = epsilon
        self.n_iter_no_change = n_iter_no_change
        self.max_fun = max_fun
        self.links = links
        self.polish = polish
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None, X_val=None, y_val=None):
        """Fit the network, with ``sample_weight`` as frequency weights. Returns the estimator.

        ``X_val`` and ``y_val`` are never used for training. Their loss and score are stored after each epoch and used
        by ``early_stopping``.
        """
        check_params(self)
        sample = read_targets(self, X, y, sample_weight, again=self.warm_start and hasattr(self, "coefs_"))
        watched = read_validation(self, X_val, y_val, sample)
        return fit_network(self, sample, OUTPUTS[self.loss], _score, watched)

    @has_partial_fit
    def partial_fit(self, X, y, sample_weight=None):
        """Perform one pass over the given rows, to which the certificate refers. Returns the estimator."""
        check_params(self)
        require_no_early_stop(self)
        sample = read_targets(self, X, y, sample_weight, again=hasattr(self, "coefs_"))
        return fit_network(self, sample, OUTPUTS[self.loss], _score, None, once=True)

    def predict(self, X) -> np.ndarray:
        """Return the predictions, of shape (n,) or (n, targets)."""
        found = self._outputs(X, self.out_activation_ if hasattr(self, "out_activation_") else "")
        return found.ravel() if found.shape[1] == 1 else found


def _score(Y: np.ndarray, found: np.ndarray, weights) -> float:
    return float(r2_score(Y, found, sample_weight=weights)) if np.isfinite(found).all() else float("nan")
