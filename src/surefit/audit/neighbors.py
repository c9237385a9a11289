"""Readers for scikit-learn's nearest-neighbor models."""

from __future__ import annotations

import numpy as np

from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.audit.stating import stated
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData
from surefit.core.sample import Data

RECORDED = 200  # number of rows whose neighbors are compared with all distances


@reader("sklearn", "KNeighborsClassifier", "KNeighborsRegressor")
def read_nearest(model, data: Data, tol: float) -> Reading:
    """Read a nearest-neighbor model: its stored rows are compared with the data, its search with all distances."""
    attribute(model, "_y")
    y = target_of(model, data)
    if callable(model.metric) or model.effective_metric_ in ("precomputed", "nan_euclidean"):
        raise refuse(model, "metric", "the name of a distance between rows")
    if y.ndim != 1:
        raise InvalidData(f"certify: this {type(model).__name__} has several targets; certify one target at a time.")
    classes = labels_of(model, data, None)[0] if hasattr(model, "classes_") else None
    n, k = data.X.shape[0], min(int(model.n_neighbors), data.X.shape[0])
    rows = np.unique(np.linspace(0, n - 1, min(n, RECORDED)).astype(np.int64))
    picked = data.X.tocsr()[rows] if hasattr(data.X, "tocsr") else data.X[rows]
    found = np.asarray(model.kneighbors(picked, n_neighbors=k, return_distance=False), dtype=np.int64)
    problem = {
        "classes": classes,
        "metric": model.effective_metric_,
        "exponent": float(model.effective_metric_params_.get("p", 2.0)),
        "objective": "a vote, or a mean, of the nearest rows",
    }
    witness = {"rows": rows, "neighbors": found}

    def state(draft: Certificate, given: Data) -> list[Claim]:
        return [stated(draft, given, "neighbors.rows"), stated(draft, given, "neighbors.nearest", witness)]

    return Reading("C", problem, (), state, derived="neighbors")
