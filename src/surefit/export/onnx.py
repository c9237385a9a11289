"""Fitted models as ONNX graphs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Perceptron
from sklearn.neighbors import NearestCentroid, NearestNeighbors
from sklearn.pipeline import Pipeline
from sklearn.svm import LinearSVC

from surefit.core.errors import InvalidData, SurefitError
from surefit.export.onnx_converters import register_converters
from surefit.export.relatives import kernel_columns_of, linear_model
from surefit.export.twins import to_sklearn

#: Classifiers whose converter has a table of scores in any case, and no option to ask for it.
_PLAIN_SCORES = ("LinearSVC",)


#: Why there is no graph, or none that onnxruntime evaluates.
REFUSED = {
    "AgglomerativeClustering": "it predicts nothing",
    "GaussianProcessClassifier": "onnxruntime has no operator that solves linear systems",
    "KernelDensity": "it is a density, not a prediction",
    "RadiusNeighborsClassifier": "the converter does not select neighbors by a radius",
    "RadiusNeighborsRegressor": "the converter does not select neighbors by a radius",
}


def to_onnx(model: Any, X: Any = None, *, dtype: Any = np.float32, target_opset: int | None = None) -> Any:
    """Return a fitted model as an ONNX graph, which other programs evaluate without Python.

    The graph is that of the equivalent scikit-learn model (:func:`to_sklearn`). Its outputs are the prediction and, for
    classifiers with probabilities, one column per class. ``onnxruntime`` evaluates trees, support vector machines and
    neighbors in single precision.

    Parameters
    ----------
    model : estimator
        A fitted estimator, or a pipeline of scalers, encoders and estimators, of surefit or scikit-learn.
    X : array or data frame, default=None
        A few example rows. They are only needed if columns have different types: a data frame has one input per column.
    dtype : {float32, float64}, default=float32
        Type of the input if ``X`` is not given.
    target_opset : int or None, default=None
        Version of the ONNX operators; None: the newest version that the converter supports.

    Returns
    -------
    onnx.ModelProto
        The graph; ``SerializeToString()`` gives the bytes of a file.

    Raises
    ------
    InvalidData
        If the model has no equivalent in scikit-learn, or if the converter does not support it.
    SurefitError
        If skl2onnx is not installed.

    Examples
    --------
    >>> import surefit
    >>> model = surefit.Ridge().fit([[0.0], [1.0]], [0.0, 1.0])
    >>> graph = surefit.to_onnx(model)
    >>> [node.name for node in graph.graph.input]
    ['X']
    """
    try:
        import skl2onnx
        from skl2onnx.common.data_types import DoubleTensorType, FloatTensorType
    except ImportError:
        raise SurefitError("to_onnx: skl2onnx is not installed; install it with: pip install 'surefit[onnx]'") from None
    register_converters()
    twin = _convertible(to_sklearn(model))
    last = twin.steps[-1][1] if isinstance(twin, Pipeline) else twin
    options = (
        {id(last): {"zipmap": False}} if is_classifier(last) and type(last).__name__ not in _PLAIN_SCORES else None
    )
    tensor = DoubleTensorType if np.dtype(dtype) == np.float64 else FloatTensorType
    types = None if X is not None else [("X", tensor([None, int(twin.n_features_in_)]))]
    try:
        with _whole_numbers():
            return skl2onnx.to_onnx(twin, X, initial_types=types, options=options, target_opset=target_opset)
    except Exception as error:  # converters raise many types of errors
        name = type(model).__name__
        raise InvalidData(f"to_onnx: this {name} cannot be expressed in ONNX: {error}") from error


def _convertible(twin: Any) -> Any:
    """Return an estimator with the same predictions that the converter translates correctly."""
    if isinstance(twin, Pipeline):
        whole = copy.copy(twin)
        whole.steps = [(name, _convertible(step)) for name, step in twin.steps]
        if isinstance(whole.steps[-1][1], LinearSVC):  # its converter fails at the end of a pipeline
            whole.steps[-1] = (whole.steps[-1][0], _with_scores_of(whole.steps[-1][1], Perceptron()))
        return whole
    if hasattr(twin, "best_estimator_"):  # a search
        return _convertible(twin.best_estimator_)
    if isinstance(twin, NearestNeighbors):  # the converter accepts a number of neighbors or a radius, not both
        twin = copy.copy(twin)
        twin.radius = None
    if isinstance(twin, KernelRidge):
        coef = twin.dual_coef_ if twin.dual_coef_.ndim == 1 else twin.dual_coef_.T
        scores = linear_model(coef, np.zeros(coef.shape[:-1]))
        return Pipeline([("kernel", kernel_columns_of(twin, twin.X_fit_)), ("scores", scores)])
    if isinstance(twin, NearestCentroid):
        return _nearest_mean(twin)
    name = type(twin).__name__
    if name in REFUSED:
        raise InvalidData(f"to_onnx: {name} cannot be expressed in ONNX: {REFUSED[name]}.")
    if isinstance(twin, LinearDiscriminantAnalysis):  # the converter doubles the log-odds of two classes
        return _with_scores_of(twin, LogisticRegression())
    predictors = (tree for trees in getattr(twin, "_predictors", ()) for tree in trees)
    if any(tree.nodes["is_categorical"].any() for tree in predictors):
        raise InvalidData(f"to_onnx: this {name} splits by categories, which the converter does not translate.")
    return twin


def _with_scores_of(twin: Any, linear: Any) -> Any:
    for name in ("coef_", "intercept_", "classes_", "n_features_in_"):
        setattr(linear, name, getattr(twin, name))
    return linear


def _nearest_mean(twin: NearestCentroid) -> Any:
    """Return linear scores with the same predicted class: squared distances without the squared norm of the row."""
    centers = twin.centroids_
    if twin.metric != "euclidean" or np.ptp(twin.class_prior_) > 1e-9:
        raise InvalidData(
            "to_onnx: this NearestCentroid cannot be expressed in ONNX: the converter has linear scores only, so that it needs "
            "metric='euclidean' and priors='uniform'."
        )
    coef, intercept = centers, -0.5 * np.sum(centers**2, axis=1)
    if len(centers) == 2:
        coef, intercept = coef[1:] - coef[:1], intercept[1:] - intercept[:1]
    return linear_model(coef, intercept, twin.classes_)


@contextmanager
def _whole_numbers() -> Iterator[None]:
    """Make the converter write flags as 0 and 1, because protobuf rejects its booleans for boosted trees."""
    from skl2onnx.common import tree_ensemble

    original = tree_ensemble.add_node

    def add_node(*arguments: Any, nodes_missing_value_tracks_true: Any = 0, **options: Any) -> Any:
        return original(*arguments, nodes_missing_value_tracks_true=int(nodes_missing_value_tracks_true), **options)

    tree_ensemble.add_node = add_node
    try:
        yield
    finally:
        tree_ensemble.add_node = original
