import numpy as np
from scipy import stats
from sklearn.base import BaseEstimator, MultiOutputMixin, RegressorMixin
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import ARRAY, NOTHING, POSITIVE, REAL, check_params, one_of, read_data, read_weights
from surefit.problems import pose
from surefit.problems.stated_gap import DualGapMixin
from surefit.solvers.spline import spread, starting_at
from surefit.splines.fitting import Fit, fit_column, read_column

SAME = 1e-9  # relative difference allowed between two computations of a criterion
ROUNDING = 2e-15  # the same for each knot: rounding errors add up along the recursions


class SmoothingSpline(CertifiedMixin, DualGapMixin, MultiOutputMixin, RegressorMixin, BaseEstimator):
    r"""Linear or cubic smoothing spline in one variable, in linear time.

    .. math:: P(f) = \frac1S \sum_i s_i (y_i - f(x_i))^2 + \lambda \int (f^{(m)}(t))^2 dt, \qquad S = \sum_i s_i,

    with :math:`m = 1` for ``degree=1`` and :math:`m = 2` for ``degree=3``, over all functions for which P is defined.
    The minimizer is a spline with a knot at every distinct :math:`x_i`, constant (``degree=1``) or linear
    (``degree=3``) beyond the data. It is also the posterior mean under a (once integrated) Brownian prior, which gives
    the bands.

    Hypothesis class: the Sobolev space of order m. Loss: squared. Optimizer: two recursions without cancellation, so that points may be
    tied or arbitrarily close.

    Guarantee: the fitted values are within ``certificate_["smoothing_spline.values"].value`` of those of the exact minimizer, and the
    chosen lambda is the best on a declared grid and in its neighborhood (theory: :ref:`smoothing-splines`).

    Parameters
    ----------
    degree : {1, 3}, default=3
        Piecewise linear or cubic.
    lam : {"gcv", "loo", "reml"} or float > 0, default="gcv"
        The penalty :math:`\lambda` in units of the data, or the criterion by which it is chosen: generalized
        cross-validation, exact leave-one-out error, or restricted maximum likelihood.
    lams : array of positive numbers, default=None
        Candidate values of lambda; by default, a grid from interpolation to a polynomial fit, refined around its best
        point.
    form : {"general", "special"}, default="general"
        "special" requires :math:`f = 0` (and :math:`f' = 0` if cubic) at ``origin``, left of the data: the Brownian prior without an
        unpenalized constant or line.
    origin : float, default=0.0
        Origin of the special form; not used by the general form.

    Attributes
    ----------
    lam_ : float or ndarray of shape (n_targets,)
        The lambda used.
    dual_gap_, objective_ : float
        Proved bound on :math:`P - \min P`, and :math:`P`, all targets together.
    edof_ : float or ndarray of shape (n_targets,)
        Effective degrees of freedom: the trace of the hat matrix.
    sigma2_ : float or ndarray of shape (n_targets,)
        Noise variance: residual sum of squares divided by ``S - edof_``; NaN if it cannot be estimated.
    knots_ : ndarray of shape (n_knots,)
        Distinct inputs, preceded by ``origin`` in the special form.
    knot_weights_ : ndarray of shape (n_knots,)
        Sum of the weights at each knot.
    coef_ : ndarray of shape (degree + 1, n_knots) or (degree + 1, n_knots, n_targets)
        Value and derivatives just right of each knot.
    fitted_values_, hat_diagonal_, loo_residuals_ : ndarray of the shape of y
        At each training row: value, diagonal of the hat matrix (the derivative of the value with respect to the target), and exact
        leave-one-out error (NaN for a row of weight zero, infinite if the other rows do not determine a spline).
    lams_ : ndarray of shape (n_lams,)
        The grid; missing if ``lam`` is a number.
    criterion_values_ : ndarray of shape (n_lams,) or (n_lams, n_targets)
        The criterion on the grid; smaller is better.
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
        """Fit to inputs with one column (or a vector), with ``sample_weight`` as frequency weights. Returns the estimator."""
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
            _claims(fits, self.lam, lams),
            problem=pose(self, X, given, weights, "lam_"),
            model=("coef_", "lam_", "edof_", "sigma2_", "knots_", "knot_weights_"),
            sample=(X, given, weights),
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
        """Return a derivative of the spline at ``X``, right-sided at knots; ``order=0`` is the spline itself."""
        check_is_fitted(self)
        if isinstance(order, bool) or not isinstance(order, (int, np.integer)) or order < 0:
            raise InvalidParameter("SmoothingSpline.derivative", "order", "an integer >= 0", order)
        return self._evaluate(self._points(X), int(order))

    def interval(self, X, confidence=0.95):
        """Return the lower and upper end of pointwise Bayesian bands: normal with the fitted mean, standard deviation and noise."""
        if not 0 < confidence < 1:
            raise InvalidParameter("SmoothingSpline.interval", "confidence", "between 0 and 1", confidence)
        values, std = self.predict(X, return_std=True)
        half = stats.norm.ppf(0.5 + confidence / 2) * std
        return values - half, values + half

    def verify(self, X, y=None, sample_weight=None):
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(self._as_column(X), y, sample_weight=sample_weight)

    # --- private ------------------------------------------------------------------------------------------------------

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
        self.objective_ = float(sum(fit.objective for fit in fits))
        self.__dict__.pop("lams_", None)
        self.__dict__.pop("criterion_values_", None)
        if fits[0].choice is not None:
            self.lams_ = fits[0].choice.lams
            columns = [fit.choice.values for fit in fits if fit.choice is not None]
            self.criterion_values_ = columns[0] if single else np.stack(columns, axis=-1)

    def _evaluate(self, x: np.ndarray, order: int) -> np.ndarray:
        """Evaluate Taylor's formula at the knot to the left; before the first knot, the unpenalized polynomial."""
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
        tags.input_tags.two_d_array = False  # only tables with one column are supported
        return tags


def _claims(fits: list[Fit], criterion, given) -> list[Claim]:
    """Return the claims; only the choice of lambda has a value, because its re-derivation is slower than the fit."""
    dual = fits[0].dual[:, None] if len(fits) == 1 else np.stack([fit.dual for fit in fits], axis=-1)
    claims = [
        Claim("smoothing_spline.gap", witness={"dual": dual}),
        *(Claim(f"smoothing_spline.{name}") for name in ("values", "derivatives", "edof")),
    ]
    choices = [fit.choice for fit in fits if fit.choice is not None]
    if not choices:
        return claims
    columns = []
    for choice in choices:  # for the default grid, the two neighbors of the best value
        best = int(np.argmin(np.abs(np.log(choice.lams) - np.log(choice.lam))))
        places = [max(best - 1, 0), min(best + 1, len(choice.lams) - 1)]
        columns.append(choice.lams if given is not None else choice.lams[places])
    edges = np.array([bool(choice.edge) for choice in choices])
    size = max((abs(choice.value) for choice in choices if np.isfinite(choice.value)), default=0.0)
    size += max(fit.total for fit in fits) if criterion == "reml" else 0.0  # logarithms, one per row
    apart = (SAME + ROUNDING * len(fits[0].knots)) * size
    numbers = {"compared": len(columns[0]), "edge": bool(edges.any()), "criterion": criterion}
    witness = {"lams": np.stack(columns, axis=-1), "edges": edges}
    return [*claims, Claim("smoothing_spline.choice", apart, numbers=numbers, witness=witness)]
