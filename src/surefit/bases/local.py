import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from surefit.bases.base import BasisMixin
from surefit.core.errors import InvalidParameter
from surefit.core.validation import ARRAY, COUNT, POSITIVE, RANDOM_STATE, Rule, one_of

CLUSTERING = Rule("a clustering with fit and n_clusters", lambda v: hasattr(v, "fit") and hasattr(v, "n_clusters"))


class RadialBasis(BasisMixin, BaseEstimator):
    r"""Bumps around centres.

    .. math:: \phi_j(x) = \exp(-\|x - \mu_j\|^2 / \sigma_j^2) .

    Guarantee: a feature is 1 at its centre and 1/e at distance :math:`\sigma_j`; note that there is no factor 2. Optimality is that
    of the model on top (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    centres : {"quantiles", "rows"}, clustering or array of shape (n_centres, n_features), default="quantiles"
        Where the centres are: at equally spaced quantiles of each column, at random rows, at the centres that a clustering such as
        ``KMeans(8)`` finds (a copy of it is fitted), or as given.
    n_centres : int >= 1, default=5
        How many quantiles or rows.
    widths : float > 0 or array of shape (n_centres,), default=1.0
        :math:`\sigma_j`.
    random_state : int or None, default=None
        For ``centres="rows"``.

    Attributes
    ----------
    centres_ : ndarray of shape (n_centres, n_features)
        :math:`\mu_j`.
    widths_ : ndarray of shape (n_centres,)
        :math:`\sigma_j`.
    clustering_ : estimator
        The fitted clustering with its certificate, if the centres come from one.
    n_output_features_ : int
        Number of features; no constant, the model has its intercept.
    certificate_ : Certificate
        Says whether the map looked at the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import RadialBasis
    >>> RadialBasis([[0.0], [1.0]]).fit_transform([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.0183, 0.3679]])

    Centres from a clustering:

    >>> from surefit import KMeans
    >>> basis = RadialBasis(KMeans(2, random_state=0)).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(basis.centres_.ravel().tolist())
    [0.5, 9.5]
    """

    _rules = {
        "centres": one_of("quantiles", "rows") | CLUSTERING | ARRAY,
        "n_centres": COUNT,
        "widths": POSITIVE | ARRAY,
        "random_state": RANDOM_STATE,
    }

    def __init__(self, centres="quantiles", *, n_centres=5, widths=1.0, random_state=None):
        self.centres = centres
        self.n_centres = n_centres
        self.widths = widths
        self.random_state = random_state

    def _place(self, X):
        self.__dict__.pop("clustering_", None)  # left by an earlier fit
        looked = isinstance(self.centres, str) or CLUSTERING.allows(self.centres)
        if CLUSTERING.allows(self.centres):
            self.clustering_ = clone(self.centres).fit(X)
            self.centres_ = np.asarray(self.clustering_.cluster_centers_, dtype=np.float64)
        elif not looked:
            self.centres_ = np.asarray(self.centres, dtype=np.float64)
            if self.centres_.ndim != 2 or self.centres_.shape[1] != X.shape[1] or not np.isfinite(self.centres_).all():
                raise InvalidParameter(
                    "RadialBasis", "centres", f"finite rows of {X.shape[1]} numbers, as X has columns", self.centres
                )
        elif self.centres == "quantiles":
            self.centres_ = np.quantile(X, (np.arange(self.n_centres) + 0.5) / self.n_centres, axis=0)
        else:
            count = min(self.n_centres, len(X))
            random = check_random_state(self.random_state)
            self.centres_ = X[np.sort(random.choice(len(X), count, replace=False))]
        widths = np.asarray(self.widths, dtype=np.float64)
        if widths.ndim > 1 or (widths.ndim == 1 and len(widths) != len(self.centres_)) or not np.all(widths > 0):
            raise InvalidParameter("RadialBasis", "widths", f"one number > 0, or {len(self.centres_)}", self.widths)
        self.widths_ = np.broadcast_to(widths, len(self.centres_)).copy()
        return looked

    def _features(self, X):
        squares = np.stack([((X - centre) ** 2).sum(axis=1) for centre in self.centres_], axis=1)
        return np.exp(-squares / self.widths_**2)

    def _names(self, columns):
        return [f"bump{j}" for j in range(len(self.centres_))]


class HingeBasis(BasisMixin, BaseEstimator):
    r"""Piecewise linear functions with kinks at knots.

    .. math:: \phi(x) = \big( x,\ (x - \kappa_1)_+, \dots, (x - \kappa_m)_+ \big) \quad\text{for each column.}

    Guarantee: a fit on it is continuous and linear between knots; optimality is that of the model on top (theory:
    :ref:`least-squares-gap`).

    Parameters
    ----------
    knots : int >= 1 or array, default=3
        So many knots at equally spaced quantiles of each column, or the same given knots for all.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots, n_features)
        :math:`\kappa`.
    n_output_features_ : int
        Number of features; no constant, the model has its intercept.
    certificate_ : Certificate
        Says whether the map looked at the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import HingeBasis
    >>> HingeBasis([1.0]).fit_transform([[0.0], [1.0], [3.0]])
    array([[0., 0.],
           [1., 0.],
           [3., 2.]])
    """

    _rules = {"knots": COUNT | ARRAY}

    def __init__(self, knots=3):
        self.knots = knots

    def _place(self, X):
        if isinstance(self.knots, (int, np.integer)):
            self.knots_ = np.quantile(X, np.arange(1, self.knots + 1) / (self.knots + 1), axis=0)
            return True
        given = np.asarray(self.knots, dtype=np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
            raise InvalidParameter("HingeBasis", "knots", "an integer >= 1 or finite numbers", self.knots)
        self.knots_ = np.repeat(np.sort(given)[:, None], X.shape[1], axis=1)
        return False

    def _features(self, X):
        hinges = np.maximum(X[:, :, None] - self.knots_.T[None], 0.0)
        return np.concatenate([X[:, :, None], hinges], axis=2).reshape(len(X), -1)

    def _names(self, columns):
        knots = self.knots_.T
        return [
            name for c, own in zip(columns, knots, strict=True) for name in [str(c), *(f"({c}-{k:g})+" for k in own)]
        ]
