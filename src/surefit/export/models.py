"""Private attributes that neighbors, networks, clusterings and linear classifiers of scikit-learn need."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.preprocessing import LabelBinarizer

from surefit.export.kernels import named_kernel
from surefit.export.twins import cannot, filler
from surefit.kernels import Laplacian


@filler(
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "RadiusNeighborsClassifier",
    "RadiusNeighborsRegressor",
)
def fill_neighbors(model: Any, twin: Any) -> None:
    """Fit the nearest-neighbor search on the training rows, repeated according to their weights."""
    if model._kernel_given() is not None:
        raise cannot(model, "it compares rows by a kernel")
    rows, targets = model._fit_X, _targets(model)
    if model._row_weight is not None:
        counts = np.rint(model._row_weight).astype(np.int64)
        if np.any(counts != model._row_weight):
            raise cannot(model, "its rows have weights that are not whole numbers of repetitions")
        again = np.repeat(np.arange(rows.shape[0]), counts)
        rows, targets = rows[again], targets[again]
    twin.fit(rows, targets)


def _targets(model: Any) -> Any:
    if not hasattr(model, "classes_"):
        return getattr(model, "_targets", None)  # NearestNeighbors has no targets
    if model.outputs_2d_:
        return np.column_stack([known[codes] for known, codes in zip(model.classes_, model._codes.T, strict=True)])
    return model.classes_[model._codes]


@filler("KernelDensity")
def fill_density(model: Any, twin: Any) -> None:
    """Fit the tree on the training rows with their weights, and set the bandwidth."""
    twin.fit(model._fit_X, sample_weight=model._row_weight)
    twin.bandwidth_ = model.bandwidth_


@filler("MLPClassifier", "RidgeClassifier", "RidgeClassifierCV")
def fill_binarizer(model: Any, twin: Any) -> None:
    """Set the encoder of the labels."""
    negative = 0 if hasattr(model, "coefs_") else -1
    twin._label_binarizer = LabelBinarizer(neg_label=negative).fit(model.classes_)


@filler("KMeans", "MiniBatchKMeans")
def fill_centers(model: Any, twin: Any) -> None:
    """Set the number of threads and of output columns."""
    twin._n_threads, twin._n_features_out = 1, len(model.cluster_centers_)


@filler("Nystroem", "RBFSampler")
def fill_features(model: Any, twin: Any) -> None:
    """Set the number of output columns, and the kernel by name."""
    named = named_kernel(model.kernel_)
    if isinstance(model.kernel_, Laplacian):
        named = {"kernel": "laplacian", "gamma": model.kernel_.gamma}
    if named is None:
        raise cannot(model, f"its kernel {model.kernel_!r} has no name in scikit-learn")
    for name in set(named) & set(twin.get_params()):
        setattr(twin, name, named[name])
    twin._n_features_out = model._n_features_out


@filler("LinearDiscriminantAnalysis")
def fill_discriminant(model: Any, twin: Any) -> None:
    """Set the number of axes; probabilities follow from the scores, so the solver does not matter."""
    most = min(len(model.classes_) - 1, model.n_features_in_)
    twin._max_components = most if model.n_components is None else min(most, model.n_components)
    twin._n_features_out = twin._max_components


@filler("LogisticRegression", "LogisticRegressionCV")
def fill_logistic(model: Any, twin: Any) -> None:
    """Raise an error if the probabilities are not a softmax of the scores."""
    if getattr(model, "multi_class", None) == "ovr" and len(model.classes_) > 2:
        raise cannot(
            model, "its classes were fitted one against the rest; wrap a two-class model in OneVsRestClassifier"
        )


@filler("GridSearchCV", "RandomizedSearchCV")
def fill_search(model: Any, twin: Any) -> None:
    """Set the default estimator of the search."""
    if twin.estimator is None:
        twin.estimator = clone(twin.best_estimator_)


@filler("PoissonRegressor", "GammaRegressor", "TweedieRegressor")
def fill_link(model: Any, twin: Any) -> None:
    """Set the loss, whose link maps scores to means."""
    twin._base_loss = twin._get_loss()
