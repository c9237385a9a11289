"""Models without a counterpart in scikit-learn whose predictions other scikit-learn estimators reproduce.

A kernel expansion is a linear model on the kernel values of a row with some training rows. It becomes scikit-learn's
``Nystroem`` with the identity matrix, followed by a linear estimator.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LinearRegression, LogisticRegression, PoissonRegressor
from sklearn.multiclass import OneVsRestClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import LabelBinarizer, PolynomialFeatures, StandardScaler
from sklearn.svm import LinearSVC

from surefit import kernels as ours
from surefit.core.issuing.state import dense
from surefit.export.kernels import named_kernel
from surefit.export.twins import MAKERS, cannot, to_sklearn
from surefit.problems.composed import LOG_LINK
from surefit.problems.terms import loss_term


def maker(*names: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Register a function that converts these estimators."""

    def register(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        MAKERS.update(dict.fromkeys(names, function))
        return function

    return register


def linear_model(coef: Any, intercept: Any, classes: Any = None, probability: str = "") -> Any:
    """Return a linear estimator with these scores; ``probability`` is "" (none), "softmax" or "ovr" (one-vs-rest)."""
    coef, intercept = np.asarray(coef, dtype=np.float64), np.asarray(intercept, dtype=np.float64)
    if classes is None:
        twin: Any = LinearRegression()
        twin.coef_, twin.intercept_ = coef, intercept if coef.ndim == 2 else np.float64(intercept)
    elif probability == "ovr" and len(classes) > 2:
        twin = OneVsRestClassifier(LogisticRegression())
        pairs = zip(np.atleast_2d(coef), np.atleast_1d(intercept), strict=True)
        twin.estimators_ = [linear_model(line[None], [b], np.array([0, 1]), "softmax") for line, b in pairs]
        twin.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(classes)
    else:
        twin = LogisticRegression() if probability else LinearSVC()
        twin.coef_, twin.intercept_, twin.classes_ = np.atleast_2d(coef), np.atleast_1d(intercept), classes
    twin.n_features_in_ = coef.shape[-1]
    return twin


def kernel_columns(model: Any, rows: Any, kernel: Any = None) -> Nystroem:
    """Return a transformer that computes the kernel values with the training rows ``rows``."""
    kernel = model.kernel_ if kernel is None else kernel
    named = named_kernel(kernel)
    if isinstance(kernel, ours.Laplacian):
        named = {"kernel": "laplacian", "gamma": kernel.gamma}
    if named is None:
        raise cannot(model, f"its kernel {kernel!r} has no name in scikit-learn")
    return kernel_columns_of(Nystroem(**named), rows)


def kernel_columns_of(model: Any, rows: Any) -> Nystroem:
    """Return the transformer of :func:`kernel_columns` for the kernel parameters of a scikit-learn estimator."""
    named = {name: getattr(model, name) for name in ("kernel", "gamma", "degree", "coef0", "kernel_params")}
    columns = Nystroem(n_components=len(rows), **named)
    columns.components_, columns.normalization_ = np.asarray(dense(rows)), np.eye(len(rows))
    columns.component_indices_, columns.n_features_in_ = np.arange(len(rows)), rows.shape[1]
    columns._n_features_out = len(rows)
    return columns


@maker(
    "KernelFisherDiscriminant",
    "KernelLogisticRegression",
    "KernelPerceptron",
    "NystroemLogisticRegression",
    "NystroemSVC",
)
def kernel_classifier(model: Any) -> Pipeline:
    """Convert a kernel classifier, with probabilities for the logistic loss."""
    rows = model.support_vectors_ if hasattr(model, "support_vectors_") else _rows(model)
    probability = "softmax" if getattr(model, "multi_class", "ovr") == "multinomial" else "ovr"
    logistic = "Logistic" in type(model).__name__
    scores = linear_model(model.dual_coef_, model.intercept_, model.classes_, probability if logistic else "")
    return Pipeline([("kernel", kernel_columns(model, rows)), ("scores", scores)])


@maker("KernelRidgeCV", "NystroemRidge")
def kernel_regressor(model: Any) -> Pipeline:
    """Convert a kernel regressor, with kernel values at the training rows or at landmarks."""
    _require_no_functions(model)
    coef = model.dual_coef_ if model.dual_coef_.ndim == 1 else model.dual_coef_.T
    scores = linear_model(coef, model.intercept_)
    return Pipeline([("kernel", kernel_columns(model, _rows(model))), ("scores", scores)])


def _require_no_functions(model: Any) -> None:
    if np.size(getattr(model, "null_coef_", ())):
        raise cannot(model, "scikit-learn's kernel models have no unpenalized functions")


@maker("KernelModel")
def composed_kernel(model: Any) -> Pipeline:
    """Convert a kernel model with any loss."""
    _require_no_functions(model)
    scores = _composed(model, model.dual_coef_)
    return Pipeline([("kernel", kernel_columns(model, model.X_fit_)), ("scores", scores)])


@maker("LinearModel")
def composed_linear(model: Any) -> Any:
    """Convert a linear model with any loss."""
    return _composed(model, dense(model.coef_))


def _composed(model: Any, coef: np.ndarray) -> Any:
    """Return the linear part of a model with any loss, with its link."""
    if hasattr(model, "classes_"):
        return linear_model(coef, model.intercept_, model.classes_)
    twin = linear_model(coef, model.intercept_)
    if loss_term(model.loss).name not in LOG_LINK:
        return twin
    log = PoissonRegressor()
    log.coef_, log.intercept_, log.n_features_in_ = twin.coef_, twin.intercept_, twin.n_features_in_
    log._base_loss = log._get_loss()
    return log


def _rows(model: Any) -> Any:
    return model.X_fit_[model.landmarks_] if len(getattr(model, "landmarks_", ())) else model.X_fit_


@maker("BayesianLinearRegression")
def posterior_mean(model: Any) -> LinearRegression:
    """Convert a Bayesian model to a linear model with the posterior mean as coefficients."""
    return linear_model(model.coef_, model.intercept_)


@maker("FisherDiscriminant", "LeastSquaresClassifier")
def linear_scores(model: Any) -> LinearSVC:
    """Convert a linear classifier; a score of zero gives the first class."""
    threshold = getattr(model, "tau", 0.0) if len(model.classes_) == 2 else 0.0
    return linear_model(model.coef_, model.intercept_ - threshold, model.classes_)


@maker("NystroemFeatures")
def landmark_features(model: Any) -> Nystroem:
    """Convert Nystroem features."""
    twin = kernel_columns(model, model.components_)
    twin.normalization_ = model.normalization_.T
    twin.component_indices_, twin._n_features_out = model.component_indices_, model._n_features_out
    return twin


@maker("RandomFourierFeatures")
def cosines_and_sines(model: Any) -> RBFSampler:
    """Convert random Fourier features; a sine is the cosine of the angle minus a right angle."""
    count = len(model.frequencies_)
    twin = RBFSampler(n_components=2 * count)
    twin.random_weights_ = np.hstack([model.frequencies_.T, model.frequencies_.T])
    twin.random_offset_ = np.repeat([0.0, -np.pi / 2], count)
    twin.n_features_in_, twin._n_features_out = model.n_features_in_, 2 * count
    return twin


@maker("PolynomialBasis", "KernelPolynomialFeatures")
def monomials(model: Any) -> Pipeline:
    """Convert a polynomial basis to monomials of shifted and scaled columns, or to scaled monomials."""
    powers, bias = PolynomialFeatures(model.degree, include_bias=hasattr(model, "scales_")), hasattr(model, "scales_")
    powers.fit(np.zeros((1, model.n_features_in_)))
    if bias:
        return Pipeline([("powers", powers), ("scale", _scaler(0.0 * model.scales_, 1 / model.scales_))])
    return Pipeline([("scale", _scaler(model.center_, model.half_range_)), ("powers", powers)])


def _scaler(mean: np.ndarray, scale: np.ndarray) -> StandardScaler:
    twin = StandardScaler()
    twin.mean_, twin.scale_, twin.var_, twin.n_features_in_ = mean, scale, scale**2, len(mean)
    twin.n_samples_seen_ = 1
    return twin


@maker("MAPClassifier")
def naive_bayes(model: Any) -> GaussianNB:
    """Convert a classifier with normal densities of independent columns to naive Bayes."""
    if model.distributions != "diagonal":
        raise cannot(model, "only normal densities of independent columns have an estimator there")
    twin = GaussianNB()
    twin.theta_, twin.var_ = model.means_, model.spreads_
    twin.class_prior_, twin.classes_ = model.class_prior_, model.classes_
    twin.class_count_, twin.epsilon_, twin.n_features_in_ = model.class_prior_, 0.0, model.n_features_in_
    return twin


@maker("Certified", "ConformalClassifier", "ConformalRegressor", "StructuralRiskMinimizer")
def inner_model(model: Any) -> Any:
    """Convert the selected model, or the model whose error or intervals are certified."""
    if not hasattr(model, "estimator_"):
        raise cannot(model, "it has one model per fold")
    return to_sklearn(model.estimator_)


@maker("EvidenceSelector")
def chosen_model(model: Any) -> Any:
    """Convert the selected model."""
    return to_sklearn(model.best_estimator_)
