import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.utils import check_random_state

from surefit.bases.base import BasisMixin
from surefit.core.errors import InvalidParameter
from surefit.core.validation import ARRAY, COUNT, POSITIVE, RANDOM_STATE, Rule, one_of

CLUSTERING = Rule("a clustering with fit and n_clusters", lambda v: hasattr(v, "fit") and hasattr(v, "n_clusters"))


class RadialBasis(BasisMixin, BaseEstimator):
    r"""Gaussian radial basis functions around given or fitted centers.

    .. math:: \phi_j(x) = \exp(-\|x - \mu_j\|^2 / \sigma_j^2) .

    Guarantee: a feature is 1 at its center and 1/e at distance :math:`\sigma_j`; note that there is no factor 2. Optimality is that of
    the model on these features (theory: :ref:`least-squares-gap`).

    Parameters
    ----------
    centers : {"quantiles", "rows"}, clustering or array of shape (n_centers, n_features), default="quantiles"
        Position of the centers: equally spaced quantiles of each column, random rows, the centers of a clustering such as ``KMeans(8)``
        (a copy is fitted), or given points.
    n_centers : int >= 1, default=5
        Number of quantiles or rows.
    widths : float > 0 or array of shape (n_centers,), default=1.0
        :math:`\sigma_j`.
    random_state : int or None, default=None
        Seed for ``centers="rows"``.

    Attributes
    ----------
    centers_ : ndarray of shape (n_centers, n_features)
        :math:`\mu_j`.
    widths_ : ndarray of shape (n_centers,)
        :math:`\sigma_j`.
    clustering_ : estimator
        The fitted clustering with its certificate, if the centers come from one.
    n_output_features_ : int
        Number of features; there is no constant feature, because models have an intercept.
    certificate_ : Certificate
        States whether the map depends on the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import RadialBasis
    >>> RadialBasis([[0.0], [1.0]]).fit_transform([[0.0], [2.0]]).round(4)
    array([[1.    , 0.3679],
           [0.0183, 0.3679]])

    Centers from a clustering:

    >>> from surefit import KMeans
    >>> basis = RadialBasis(KMeans(2, random_state=0)).fit([[0.0], [1.0], [9.0], [10.0]])
    >>> sorted(basis.centers_.ravel().tolist())
    [0.5, 9.5]
    """

    _rules = {
        "centers": one_of("quantiles", "rows") | CLUSTERING | ARRAY,
        "n_centers": COUNT,
        "widths": POSITIVE | ARRAY,
        "random_state": RANDOM_STATE,
    }
    _numbers = ("centers_", "widths_")

    def __init__(self, centers="quantiles", *, n_centers=5, widths=1.0, random_state=None):
        self.centers = centers
        self.n_centers = n_centers
        self.widths = widths
        self.random_state = random_state

    def _place(self, X):
        self.__dict__.pop("clustering_", None)  # from an earlier fit
        looked = isinstance(self.centers, str) or CLUSTERING.allows(self.centers)
        if CLUSTERING.allows(self.centers):
            self.clustering_ = clone(self.centers).fit(X)
            self.centers_ = np.asarray(self.clustering_.cluster_centers_, dtype=np.float64)
        elif not looked:
            self.centers_ = np.asarray(self.centers, dtype=np.float64)
            if self.centers_.ndim != 2 or self.centers_.shape[1] != X.shape[1] or not np.isfinite(self.centers_).all():
                raise InvalidParameter(
                    "RadialBasis", "centers", f"finite rows of {X.shape[1]} numbers, as X has columns", self.centers
                )
        elif self.centers == "quantiles":
            self.centers_ = np.quantile(X, (np.arange(self.n_centers) + 0.5) / self.n_centers, axis=0)
        else:
            count = min(self.n_centers, len(X))
            random = check_random_state(self.random_state)
            self.centers_ = X[np.sort(random.choice(len(X), count, replace=False))]
        widths = np.asarray(self.widths, dtype=np.float64)
        if widths.ndim > 1 or (widths.ndim == 1 and len(widths) != len(self.centers_)) or not np.all(widths > 0):
            raise InvalidParameter("RadialBasis", "widths", f"one number > 0, or {len(self.centers_)}", self.widths)
        self.widths_ = np.broadcast_to(widths, len(self.centers_)).copy()

    def _features(self, X):
        squares = np.stack([((X - center) ** 2).sum(axis=1) for center in self.centers_], axis=1)
        return np.exp(-squares / self.widths_**2)

    def _names(self, columns):
        return [f"bump{j}" for j in range(len(self.centers_))]


class HingeBasis(BasisMixin, BaseEstimator):
    r"""Piecewise linear functions with kinks at knots.

    .. math:: \phi(x) = \big( x,\ (x - \kappa_1)_+, \dots, (x - \kappa_m)_+ \big) \quad\text{for each column.}

    Guarantee: a fit is continuous and linear between knots; optimality is that of the model on these features (theory:
    :ref:`least-squares-gap`).

    Parameters
    ----------
    knots : int >= 1 or array, default=3
        Number of knots at equally spaced quantiles of each column, or given knots for all columns.

    Attributes
    ----------
    knots_ : ndarray of shape (n_knots, n_features)
        :math:`\kappa`.
    n_output_features_ : int
        Number of features; there is no constant feature, because models have an intercept.
    certificate_ : Certificate
        States whether the map depends on the rows.
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
    _numbers = ("knots_",)

    def __init__(self, knots=3):
        self.knots = knots

    def _place(self, X):
        if isinstance(self.knots, (int, np.integer)):
            self.knots_ = np.quantile(X, np.arange(1, self.knots + 1) / (self.knots + 1), axis=0)
            return
        given = np.asarray(self.knots, dtype=np.float64)
        if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
            raise InvalidParameter("HingeBasis", "knots", "an integer >= 1 or finite numbers", self.knots)
        self.knots_ = np.repeat(np.sort(given)[:, None], X.shape[1], axis=1)

    def _features(self, X):
        hinges = np.maximum(X[:, :, None] - self.knots_.T[None], 0.0)
        return np.concatenate([X[:, :, None], hinges], axis=2).reshape(len(X), -1)

    def _names(self, columns):
        knots = self.knots_.T
        return [
            name for c, own in zip(columns, knots, strict=True) for name in [str(c), *(f"({c}-{k:g})+" for k in own)]
        ]
