from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils.validation import check_is_fitted

from surefit.core.budget import Budget
from surefit.core.callbacks import CallbackSupportMixin, progress_reporter, with_callbacks
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import (
    COUNT,
    NON_NEGATIVE,
    NOTHING,
    POSITIVE,
    Rule,
    check_params,
    one_of,
    read_data,
    read_weights,
)
from surefit.losses import Absolute, ExponentialLoss, Hinge, Huber, Logistic, Squared, SquaredHinge, is_margin_loss
from surefit.problems import pose
from surefit.problems.stagewise import NAMES
from surefit.solvers.boosting.stagewise import LARGEST, ColumnBasis, StumpBasis, best_factor, derivatives

_NAMES = {
    "squared_error": Squared(),
    "absolute_error": Absolute(),
    "logistic": Logistic(),
    "exponential": ExponentialLoss(),
    "hinge": Hinge(),
    "squared_hinge": SquaredHinge(),
}
_TERM = Rule("a loss of surefit.losses", lambda v: type(v) in (*(type(t) for t in _NAMES.values()), Huber))
_TRANSFORMER = Rule(
    "a transformer whose columns are the basis functions", lambda v: hasattr(v, "transform") and not isinstance(v, type)
)
READ: dict[str, Any] = {"dtype": [np.float64, np.float32]}


class ForwardStagewise(CertifiedMixin, CallbackSupportMixin, RegressorMixin, BaseEstimator):
    r"""Forward stagewise additive model: basis functions are added one at a time, and earlier terms are never revised.

    .. math:: f_m = f_{m-1} + \nu \beta_m b_m, \qquad \beta_m = \arg\min_\beta \sum_i s_i \varphi(y_i, f_{m-1}(x_i) + \beta\, b_m(x_i)) .

    The function :math:`b_m` has the largest derivative of the loss relative to its norm. For squared loss this is
    matching pursuit, and for exponential loss with stumps it is AdaBoost; in both cases no other basis function would
    decrease the loss more.

    Hypothesis class: sums of at most ``n_terms`` functions. Loss: any of ``surefit.losses``. Optimizer: greedy.

    Guarantee: each factor is optimal for its function, and the loss never increases. If the choice is exact, no other
    function would have decreased the loss more (theory: :ref:`stagewise`).

    Parameters
    ----------
    loss : str or loss term, default='squared_error'
        'squared_error', 'absolute_error', 'logistic', 'exponential', 'hinge', 'squared_hinge', or a term such as
        ``surefit.losses.Huber(1.0)``. Margin losses require targets -1 and 1, and ``predict`` then returns these
        labels.
    basis : {'stumps', 'columns'} or transformer, default='stumps'
        'stumps': functions with values -1 and 1 that change sign once along a column, and constants. 'columns': the
        columns of X. A transformer: its output columns, for example :class:`surefit.HingeBasis`.
    n_terms : int >= 1, default=100
        Maximum number of terms.
    learning_rate : float > 0, default=1.0
        Shrinkage :math:`\nu`.
    tol : float >= 0, default=0.0
        Stop when a term decreases the mean loss by at most this value.
    max_time : float > 0 or None, default=None
        Time limit in seconds; the terms so far are returned. Ctrl-C has the same effect.

    Attributes
    ----------
    factors_ : ndarray
        Factors :math:`\nu \beta_m` of the terms.
    columns_ : ndarray of int
        Column of each term, of X or of the transformed X.
    thresholds_ : ndarray
        Threshold of a stump; minus infinity for a constant, nan for other functions.
    losses_ : ndarray of shape (terms + 1,)
        Mean loss before the first term and after each term.
    n_terms_ : int
        Number of terms.
    basis_ : transformer or None
        The fitted transformer.
    certificate_ : Certificate
        Claims with evidence; ``verify(X, y)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    On orthonormal columns the model is the orthogonal series estimator, with the largest coefficients first:

    >>> import numpy as np
    >>> from surefit import ForwardStagewise
    >>> Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((20, 3)))
    >>> y = Q @ [1.0, -3.0, 2.0]
    >>> model = ForwardStagewise(basis="columns", n_terms=3).fit(Q, y)
    >>> model.columns_.tolist(), model.factors_.round(9).tolist()
    ([1, 2, 0], [-3.0, 2.0, 1.0])
    >>> model.verify(Q, y)["stagewise.choice"].ok
    True
    """

    _rules = {
        "loss": one_of(*_NAMES) | _TERM,
        "basis": one_of("stumps", "columns") | _TRANSFORMER,
        "n_terms": COUNT,
        "learning_rate": POSITIVE,
        "tol": NON_NEGATIVE,
        "max_time": NOTHING | POSITIVE,
    }

    def __init__(self, loss="squared_error", *, basis="stumps", n_terms=100, learning_rate=1.0, tol=0.0, max_time=None):
        self.loss = loss
        self.basis = basis
        self.n_terms = n_terms
        self.learning_rate = learning_rate
        self.tol = tol
        self.max_time = max_time

    @with_callbacks
    def fit(self, X, y, sample_weight=None):
        """Add terms, with ``sample_weight`` as frequency weights. Returns the estimator."""
        check_params(self)
        X, y = read_data(self, X, y, y_numeric=True, **READ)
        y = np.asarray(y, dtype=np.float64)
        term = self._term()
        if is_margin_loss(term) and not np.isin(y, (-1, 1)).all():
            raise InvalidData(
                f"ForwardStagewise: a margin loss needs targets -1 and 1; got {np.unique(y)[:3].tolist()}."
            )
        sample_weight = read_weights(self, sample_weight, len(y))
        s = np.ones(len(y)) if sample_weight is None else sample_weight
        kept = np.flatnonzero(s > 0)
        self.basis_ = None
        if isinstance(self.basis, str):
            functions: Any = StumpBasis(X[kept]) if self.basis == "stumps" else ColumnBasis(X[kept])
        else:
            self.basis_ = clone(self.basis).fit(X[kept])
            functions = ColumnBasis(self.basis_.transform(X[kept]))
        reporter = progress_reporter(self, X, y, task="term", max_subtasks=int(self.n_terms))
        with Budget(self.n_terms, self.max_time, reporter) as budget:
            reason = self._add_terms(functions, y[kept], s[kept], term, budget)
            seconds = budget.seconds
        if reporter is not None:
            reporter.finish()
        self._certify(X, y, sample_weight, reason, seconds)
        return self

    def _add_terms(self, functions, y: np.ndarray, s: np.ndarray, term, budget: Budget) -> str:
        z, g, total = np.zeros(len(y)), np.empty(len(y)), float(np.sum(s))
        columns: list[int] = []
        thresholds: list[float] = []
        factors: list[float] = []
        losses = [derivatives(term, y, z, s, g) / total]
        reason = None
        while reason is None:
            (j, threshold), b = functions.best(g, s)
            most = LARGEST / float(np.max(np.abs(b))) if is_margin_loss(term) and np.any(b) else math.inf
            factor = float(self.learning_rate) * best_factor(term, y, z, s, b, most)
            z += factor * b
            loss = derivatives(term, y, z, s, g) / total
            if factor == 0 or loss >= losses[-1] - self.tol:
                reason = "converged"  # no function decreases the loss
                break
            columns.append(j)
            thresholds.append(threshold)
            factors.append(factor)
            losses.append(loss)
            reason = budget.spent(len(factors), loss)
        self.columns_, self.thresholds_ = np.array(columns, dtype=np.int64), np.array(thresholds, dtype=np.float64)
        self.factors_, self.losses_ = np.array(factors, dtype=np.float64), np.array(losses)
        self.n_terms_ = len(factors)
        return str(reason)

    def scores(self, X) -> np.ndarray:
        """Return the sum of the terms."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        return self._values(X) @ self.factors_

    def predict(self, X) -> np.ndarray:
        """Return the sum of the terms; for margin losses its sign, -1 or 1 (zero gives -1)."""
        scores = self.scores(X)
        return np.where(scores > 0, 1.0, -1.0) if is_margin_loss(self._term()) else scores

    def _answers_again(self, certificate, X) -> dict[str, np.ndarray]:
        """Return the output columns of the transformer in the format of the certificate."""
        recorded = any("values" in claim.witness for claim in certificate.claims)
        return {"values": self._values(read_data(self, X, reset=False, **READ))} if recorded else {}

    @property
    def loss_name_(self) -> str:
        """Name of the loss."""
        return self.loss if isinstance(self.loss, str) else NAMES[type(self.loss).__name__]

    def _term(self):
        return _NAMES[self.loss] if isinstance(self.loss, str) else self.loss

    def _values(self, X: np.ndarray) -> np.ndarray:
        """Return the values of the chosen functions, (rows, terms)."""
        if self.n_terms_ == 0:
            return np.zeros((X.shape[0], 0))
        if self.basis_ is not None:
            return np.asarray(self.basis_.transform(X), dtype=np.float64)[:, self.columns_]
        chosen = np.asarray(X, dtype=np.float64)[:, self.columns_]
        return np.where(chosen > self.thresholds_, 1.0, -1.0) if self.basis == "stumps" else chosen

    def _certify(self, X, y, sample_weight, reason: str, seconds: float) -> None:
        made = self.basis_ is not None
        problem = pose(self, X, y, sample_weight, "loss_name_")
        claims = [
            Claim("stagewise.losses", witness={"values": self._values(X)} if made else {}),
            Claim("stagewise.factors"),
        ]
        exact = problem["loss"] == "squared_error" or (problem["loss"] == "exponential" and self.basis == "stumps")
        if not made and exact:
            claims.append(Claim("stagewise.choice"))
        claims.append(Claim("stagewise.global"))
        self._issue(
            "C",
            claims,
            problem=problem,
            model=("columns_", "thresholds_", "factors_", "loss_name_"),
            sample=(X, y, sample_weight),
            run={"solver": "greedy", "reason": reason, "passes": int(self.n_terms_), "seconds": float(seconds)},
        )
