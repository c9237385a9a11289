import numpy as np
from sklearn.base import BaseEstimator

from surefit.bases.base import BasisMixin
from surefit.core.validation import one_of


class CircleBasis(BasisMixin, BaseEstimator):
    r"""The columns and their sum of squares: linear classifiers on these features have circles (spheres) as boundaries.

    .. math:: \phi(x) = (x_1, \dots, x_d, \|x\|^2), \qquad
              \theta^\top \phi(x) + \theta_0 = 0 \iff \Bigl\|x + \frac{\theta_{1:d}}{2\theta_{d+1}}\Bigr\|^2
              = \frac{\|\theta_{1:d}\|^2}{4 \theta_{d+1}^2} - \frac{\theta_0}{\theta_{d+1}} .

    Guarantee: every certificate of a model on these features holds in feature space (theory: :ref:`least-squares-gap`);
    :func:`surefit.quadric_of` converts it to center and radius.

    Parameters
    ----------
    squares : {"sum", "each"}, default="sum"
        The sum of the squares, for circles; or every square, for ellipses whose axes are parallel to the columns.

    Attributes
    ----------
    n_output_features_ : int
        Number of features: one more than columns, or twice as many.
    certificate_ : Certificate
        States that the map does not depend on the rows.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> from surefit import CircleBasis
    >>> CircleBasis().fit_transform([[3.0, 4.0]])
    array([[ 3.,  4., 25.]])
    """

    _rules = {"squares": one_of("sum", "each")}

    def __init__(self, squares="sum"):
        self.squares = squares

    def _features(self, X):
        return np.column_stack([X, np.einsum("ij,ij->i", X, X) if self.squares == "sum" else X**2])

    def _names(self, columns):
        return [*map(str, columns), *(["|x|^2"] if self.squares == "sum" else [f"{c}^2" for c in columns])]
