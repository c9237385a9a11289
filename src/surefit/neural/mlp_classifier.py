from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils.metaestimators import available_if

from surefit.core.callbacks import CallbackSupportMixin, with_callbacks
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import check_params, one_of
from surefit.neural.base import NetworkMixin, has_partial_fit, require_no_early_stop
from surefit.neural.fit import fit_network
from surefit.neural.labels import first_labels, output_of, read_labels, read_validation
from surefit.neural.parameters import RULES


def _has_probabilities(estimator) -> bool:
    if estimator.output == "identity":
        raise AttributeError("MLPClassifier: output='identity' has scores, not probabilities; use predict or scores.")
    return True


class MLPClassifier(CertifiedMixin, CallbackSupportMixin, NetworkMixin, ClassifierMixin, BaseEstimator):
    r"""Multi-layer perceptron classifier.

    .. math::

        J(\vartheta) = \frac{1}{S} \Bigl[ \sum_i s_i \varphi(y_i, f_\vartheta(x_i))
            + \frac{\alpha}{2} \|w\|^2 \Bigr], \qquad S = \sum_i s_i,

    :math:`f_\vartheta(x) = W_L^\top \sigma(\dots \sigma(W_1^\top x + b_1) \dots) + b_L`, with cross-entropy of softmax
    outputs (one logistic output for two classes, one per label for several labels), or squared error.

    Hypothesis class: networks of the given layers and links. Loss: cross-entropy or squared error. Optimizer: see
    ``solver``.

    Guarantee: ``certificate_`` states, for the returned weights and all rows, the objective, the norm of its gradient,
    and an upper bound on the decrease that a better last layer could achieve (theory: :ref:`network-stationarity`). The
    certificate makes no claim about other minima.

    Parameters
    ----------
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
    loss : {'log_loss', 'squared_error'}, default='log_loss'
        Loss :math:`\varphi`: cross-entropy, or :math:`\sum_k (y_k - g_k)^2` with one-hot :math:`y`.
    output : {'auto', 'identity'}, default='auto'
        'auto' means softmax or logistic outputs. 'identity' means classification by regression and requires the squared
        error. Of two classes, class 1 is predicted if the output exceeds 1/2; of more, the class with the largest
        output.
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
    classes_ : ndarray
        The labels, sorted.

    Examples
    --------
    The XOR problem, which is not linearly separable:

    >>> import numpy as np
    >>> from surefit import MLPClassifier
    >>> X, y = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), np.array([0, 1, 1, 0])
    >>> model = MLPClassifier((4,), activation="tanh", solver="lbfgs", alpha=0.01, random_state=0).fit(X, y)
    >>> model.predict(X).tolist(), model.n_parameters_ == 4 * (2 + 2) + 1
    ([0, 1, 1, 0], True)
    >>> model.verify(X, y)["network.gradient"].ok
    True
    """

    _rules = {
        **RULES,
        "loss": one_of("log_loss", "squared_error"),
        "output": one_of("auto", "identity"),
    }

    def __init__(
        self,
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
        loss="log_loss",
        output="auto",
        links=None,
        polish=False,
        max_time=None,
    ):
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
        self.loss = loss
        self.output = output
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
        again = self.warm_start and hasattr(self, "coefs_")
        sample = read_labels(self, X, y, sample_weight, again=again)
        watched = read_validation(self, X_val, y_val, sample)
        return fit_network(self, sample, output_of(self), self._accuracy, watched)

    @has_partial_fit
    def partial_fit(self, X, y, sample_weight=None, classes=None):
        """Perform one pass over the given rows; the first call must list all classes. Returns the estimator.

        The certificate refers to the rows of this call.
        """
        check_params(self)
        require_no_early_stop(self)
        first_labels(self, y, classes)
        sample = read_labels(self, X, y, sample_weight, again=True)
        return fit_network(self, sample, output_of(self), self._accuracy, None, once=True)

    def predict(self, X) -> np.ndarray:
        """Return the label of each row; ties go to the first class."""
        return self._labels(self._outputs(X, self.out_activation_ if hasattr(self, "out_activation_") else ""))

    def scores(self, X) -> np.ndarray:
        """Return the values of the output units before the softmax or logistic function, of shape (n, outputs)."""
        return self._outputs(X, "identity")

    @available_if(_has_probabilities)
    def predict_proba(self, X) -> np.ndarray:
        """Return the probability of each class (for several labels, of each label)."""
        found = self._outputs(X, self.out_activation_ if hasattr(self, "out_activation_") else "")
        return np.column_stack([1 - found[:, 0], found[:, 0]]) if found.shape[1] == 1 else found

    @available_if(_has_probabilities)
    def predict_log_proba(self, X) -> np.ndarray:
        """Return the logarithm of ``predict_proba``."""
        with np.errstate(divide="ignore"):
            return np.log(self.predict_proba(X))

    def _labels(self, found: np.ndarray) -> np.ndarray:
        if self._label_binarizer.y_type_ == "multiclass":
            return self.classes_[found.argmax(axis=1)]
        if self._label_binarizer.y_type_ == "binary" and len(self.classes_) == 2:
            return self.classes_[(found[:, 0] > 0.5).astype(int)]
        return self._label_binarizer.inverse_transform(found.ravel() if found.shape[1] == 1 else found)

    def _accuracy(self, Y: np.ndarray, found: np.ndarray, weights) -> float:
        if not np.isfinite(found).all():
            return float("nan")
        return float(accuracy_score(self._labels(Y), self._labels(found), sample_weight=weights))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags
