import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import ARRAY, NOTHING, POSITIVE, REAL, check_params, one_of, read_data, read_weights
from surefit.solvers.spline import spread, starting_at
from surefit.splines.claims import claims
from surefit.splines.fitting import Fit, fit_column, read_column


class SmoothingSpline(CertifiedMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Linear or cubic smoothing spline of one variable, in time proportional to the number of rows.

    .. math:: P(f) = \frac1S \sum_i s_i (y_i - f(x_i))^2 + \lambda \int (f^{(m)}(t))^2 dt, \qquad S = \sum_i s_i,

    with :math:`m = 1` for ``degree=1`` and :math:`m = 2` for ``degree=3``, over all functions for which this makes sense. The
    minimiser is a spline with a knot at every distinct :math:`x_i`, constant (``degree=1``) or straight (``degree=3``) beyond the
    data. It is also the posterior mean under a (once integrated) Brownian prior, which gives the bands.

    Hypothesis class: the Sobolev space of order m; loss: squared; optimiser: two sweeps that subtract nothing of equal sign,
    so that points may be tied or as close as floats allow.

    Guarantee: no fitted value is farther from that of the exact minimiser than ``certificate_["smoothing_spline.values"].value``,
    and the chosen lambda is the best on a declared grid and in its own neighbourhood (theory: :ref:`smoothing-splines`).

    Parameters
    ----------
    degree : {1, 3}, default=3
        Piecewise linear or cubic.
    lam : {"gcv", "loo", "reml"} or float > 0, default="gcv"
        :math:`\lambda` in units of the data, or how to choose it: generalised cross-validation, exact leave-one-out error, or
        restricted maximum likelihood.
    lams : array of positive numbers, default=None
        Values to choose from. By default a grid from interpolation to a polynomial, refined around its best point.
    form : {"general", "special"}, default="general"
        "special" asks for :math:`f = 0` (and :math:`f' = 0` if cubic) at ``origin``, left of the data: the Brownian prior without a
        free constant or line.
    origin : float, default=0.0
        Where the special form starts; without effect for the general one.

    Attributes
    ----------
    lam_ : float or ndarray of shape (n_targets,)
        The lambda used.
    edof_ : float or ndarray of shape (n_targets,)
        Effective degrees of freedom: the trace of the hat matrix.
    sigma2_ : float or ndarray of shape (n_targets,)
        Noise variance: residual squares over ``S - edof_``; NaN if nothing is left to estimate it from.
    knots_ : ndarray of shape (n_knots,)
        Distinct inputs, after ``origin`` in the special form.
    knot_weights_ : ndarray of shape (n_knots,)
        Sum of the weights at each.
    coef_ : ndarray of shape (degree + 1, n_knots) or (degree + 1, n_knots, n_targets)
        Value and derivatives just right of each knot.
    fitted_values_, hat_diagonal_, loo_residuals_ : ndarray of the shape of y
        At each training row: value, diagonal of the hat matrix (the derivative of the value by the target), and exact
        error when one copy of the row is left out (NaN for a row of weight zero, infinite if the others determine no spline).
    lams_ : ndarray of shape (n_lams,)
        The grid; absent if ``lam`` is a number.
    criterion_values_ : ndarray of shape (n_lams,) or (n_lams, n_targets)
        The criterion on it, smaller is better.
    certificate_ : Certificate
        Claims about the fit.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import SmoothingSpline
    >>> x = np.linspace(0, 1, 201)
    >>> y = np.sin(6 * x) + 0.1 * np.random.default_rng(1).standard_normal(201)
    >>> model = SmoothingSpline().fit(x, y)
    >>> print(f"{model.edof_:.1f} degrees of freedom, sigma {model.sigma2_ ** 0.5:.2f}")
    8.6 degrees of freedom, sigma 0.10
    >>> mean, std = model.predict([0.5, 2.0], return_std=True)
    >>> bool(std[0] < 0.05 < std[1])
    True
    >>> model.certificate_.holds
    True
    """

    _rules = {
        "degree": one_of(1, 3),
        "lam": one_of("gcv", "loo", "reml") | POSITIVE,
        "lams": NOTHING | ARRAY,
        "form": one_of("general", "special"),
        "origin": REAL,
    }

    def __init__(self, degree=3, *, lam="gcv", lams=None, form="general", origin=0.0):
        self.degree = degree
        self.lam = lam
        self.lams = lams
        self.form = form
        self.origin = origin

    def fit(self, X, y, sample_weight=None):
        """Fit to inputs of one column (or a vector); rows count as often as ``sample_weight`` says. Returns the estimator."""
        check_params(self)
        lams = self._grid()
        X, y = read_data(self, self._as_column(X), y, dtype=np.float64, multi_output=True, y_numeric=True)
        self._one_column(X)
        weights = read_weights(self, sample_weight, len(X))
        single = y.ndim == 1
        Y = np.asarray(y, dtype=np.float64).reshape(len(X), -1)
        origin = float(self.origin) if self.form == "special" else None
        fits = [fit_column(self, X[:, 0], column, weights, origin, lams) for column in Y.T]
        self._record(fits, single)
        given = Y[:, 0] if Y.shape[1] == 1 else Y
        self._issue(
            "A",
            claims(fits, self.lam if isinstance(self.lam, str) else None),
            problem={
                "degree": int(self.degree),
                "origin": origin,
                "lam": [float(fit.lam) for fit in fits],
                "criterion": self.lam if isinstance(self.lam, str) else None,
            },
            model=("coef_", "lam_", "edof_"),
            data=data_fingerprint(X, given, weights),
            run={"solver": "two sweeps", "reason": "converged"},
        )
        return self

    def predict(self, X, return_std=False):
        """Return the spline at ``X``; with ``return_std`` also the posterior standard deviation at each point."""
        check_is_fitted(self)
        x = self._points(X)
        values = self._evaluate(x, 0)
        return (values, self._std(x)) if return_std else values

    def derivative(self, X, order=1):
        """Return a derivative of the spline at ``X``, from the right at knots; ``order`` counts from 0."""
        check_is_fitted(self)
        if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
            raise InvalidParameter("SmoothingSpline.derivative", "order", "an integer >= 0", order)
        return self._evaluate(self._points(X), int(order))

    def interval(self, X, confidence=0.95):
        """Return the lower and upper end of pointwise Bayesian bands: normal with mean, deviation and noise as fitted."""
        if not 0 < confidence < 1:
            raise InvalidParameter("SmoothingSpline.interval", "confidence", "between 0 and 1", confidence)
        values, std = self.predict(X, return_std=True)
        half = stats.norm.ppf(0.5 + confidence / 2) * std
        return values - half, values + half

    def verify(self, X, y=None, sample_weight=None):
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(self._as_column(X), y, sample_weight=sample_weight)

    # --- inside -------------------------------------------------------------------------------------------------------

    def _grid(self) -> np.ndarray | None:
        if self.lams is None:
            return None
        lams = np.ravel(np.asarray(self.lams, dtype=np.float64))
        if not len(lams) or not np.all((lams > 0) & np.isfinite(lams)):
            raise InvalidParameter("SmoothingSpline", "lams", "finite numbers > 0", self.lams)
        return lams

    def _as_column(self, X):
        return read_column(X)

    def _one_column(self, X) -> None:
        if X.shape[1] != 1:
            raise InvalidData(
                f"SmoothingSpline: X must have one column; got {X.shape[1]}. Pass a vector, or X[:, [j]] for one feature."
            )

    def _points(self, X) -> np.ndarray:
        X = read_data(self, self._as_column(X), reset=False, dtype=np.float64)
        return X[:, 0]

    def _record(self, fits: list[Fit], single: bool) -> None:
        def joined(name):
            parts = [getattr(fit, name) for fit in fits]
            if single:
                return parts[0]
            return np.array(parts) if np.ndim(parts[0]) == 0 else np.stack(parts, axis=-1)

        self.knots_, self.knot_weights_ = fits[0].knots, fits[0].knot_weights
        self.coef_, self.lam_, self.edof_ = joined("coef"), joined("lam"), joined("edof")
        self.sigma2_, self.fitted_values_ = joined("sigma2"), joined("fitted")
        self.hat_diagonal_, self.loo_residuals_ = joined("hat_diagonal"), joined("loo")
        self.__dict__.pop("lams_", None)
        self.__dict__.pop("criterion_values_", None)
        if fits[0].choice is not None:
            self.lams_ = fits[0].choice.lams
            columns = [fit.choice.values for fit in fits if fit.choice is not None]
            self.criterion_values_ = columns[0] if single else np.stack(columns, axis=-1)

    def _evaluate(self, x: np.ndarray, order: int) -> np.ndarray:
        """Taylor's formula at the knot to the left; beyond the first knot the polynomial that is not penalised."""
        place = np.maximum(np.searchsorted(self.knots_, x, side="right") - 1, 0)
        step = x - self.knots_[place]
        coef = self.coef_[:, place]
        before = step < 0
        if before.any():
            coef = coef.copy()
            coef[(self.degree + 1) // 2 :, before] = 0.0
        step = step.reshape(-1, *([1] * (coef.ndim - 2)))
        result = np.zeros(coef.shape[1:])
        for k in range(self.degree, order - 1, -1):
            result = result * step / (k - order + 1) + coef[k]
        return result

    def _std(self, x: np.ndarray) -> np.ndarray:
        origin = float(self.origin) if self.form == "special" else None
        columns = []
        for lam, sigma2 in zip(np.ravel(self.lam_), np.ravel(self.sigma2_), strict=True):
            problem = starting_at(self.knots_, self.knot_weights_, self.degree, origin, self._total)
            columns.append(np.sqrt(sigma2 * spread(problem, float(lam), x)))
        return columns[0] if np.ndim(self.lam_) == 0 else np.stack(columns, axis=-1)

    @property
    def _total(self) -> float:
        return float(self.knot_weights_.sum())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False  # tables of one column are welcome, but only those
        return tags
