"""Histogram gradient boosting in scikit-learn's arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn._loss.loss import (
    AbsoluteError,
    ExponentialLoss,
    HalfBinomialLoss,
    HalfGammaLoss,
    HalfMultinomialLoss,
    HalfPoissonLoss,
    HalfSquaredError,
    PinballLoss,
)
from sklearn.ensemble._hist_gradient_boosting.binning import _BinMapper
from sklearn.ensemble._hist_gradient_boosting.common import PREDICTOR_RECORD_DTYPE
from sklearn.ensemble._hist_gradient_boosting.predictor import TreePredictor
from sklearn.preprocessing import LabelEncoder

from surefit.export.twins import cannot, filler

_WORDS = 8  # words of 32 bits for 256 categories


@filler("HistGradientBoostingClassifier", "HistGradientBoostingRegressor")
def fill_boosting(model: Any, twin: Any) -> None:
    """Set the predictors, bins, baseline and loss of the scikit-learn estimator."""
    if model._frame_categories:
        raise cannot(model, "it has read categories of a data frame; fit it on their codes, with categorical_features")
    bins = model._bins
    for j in np.flatnonzero(bins.categorical):
        known = bins.cuts[j, : bins.n_bins[j]]
        if np.any(known != np.rint(known)) or np.any((known < 0) | (known > 254)):
            raise cannot(model, f"the categories of column {j} are not integers from 0 to 254")
    d = model.n_features_in_
    mapper = _BinMapper(n_bins=model.max_bins + 1, is_categorical=bins.categorical, known_categories=[None] * d)
    mapper.bin_thresholds_ = [bins.cuts[j, : _n_cuts(bins, j)].copy() for j in range(d)]
    mapper.n_bins_non_missing_ = bins.n_bins.astype(np.uint32)
    mapper.is_categorical_ = np.asarray(bins.categorical, dtype=np.uint8)
    mapper.missing_values_bin_idx_ = model.max_bins
    twin._bin_mapper, twin._preprocessor, twin._n_features = mapper, None, d
    twin.is_categorical_ = bins.categorical.copy() if bins.categorical.any() else None
    twin._is_categorical_remapped = twin.is_categorical_
    twin._baseline_prediction = np.asarray(model.baseline_, dtype=np.float64).reshape(1, -1)
    twin.n_trees_per_iteration_ = len(model.baseline_)
    twin._predictors = [[_predictor(model, tree) for tree in trees] for trees in model._trees]
    twin._loss, twin._in_fit = _loss(model, twin), False
    if hasattr(model, "classes_"):
        twin._label_encoder = LabelEncoder().fit(model.classes_)


def _n_cuts(bins: Any, j: int) -> int:
    return int(bins.n_bins[j]) - (0 if bins.categorical[j] else 1)


def _predictor(model: Any, tree: Any) -> TreePredictor:
    bins, nodes = model._bins, np.zeros(len(tree.feature), dtype=PREDICTOR_RECORD_DTYPE)
    leaf = tree.feature < 0
    column = np.where(leaf, 0, tree.feature)
    by_set = ~leaf & bins.categorical[column]
    nodes["value"], nodes["count"], nodes["gain"], nodes["depth"] = tree.value, tree.rows, tree.gain, tree.depth
    nodes["feature_idx"], nodes["is_leaf"], nodes["is_categorical"] = column, leaf, by_set
    nodes["left"], nodes["right"] = np.where(leaf, 0, tree.left), np.where(leaf, 0, tree.right)
    nodes["missing_go_to_left"] = tree.missing_left
    code = np.where(leaf | by_set, 0, tree.bin)
    nodes["bin_threshold"], nodes["num_threshold"] = code, np.where(leaf | by_set, 0.0, bins.cuts[column, code])
    sets = np.flatnonzero(by_set)
    nodes["bitset_idx"][sets] = np.arange(len(sets))
    binned = np.ascontiguousarray(tree.subset[sets], dtype=np.uint32).reshape(-1, _WORDS)
    raw = np.zeros_like(binned)
    for line, node in enumerate(sets):
        codes = np.flatnonzero(np.unpackbits(binned[line].view(np.uint8), bitorder="little"))
        values = bins.cuts[column[node], codes[codes < bins.n_bins[column[node]]]].astype(np.int64)
        np.bitwise_or.at(raw[line], values // 32, np.left_shift(np.uint32(1), (values % 32).astype(np.uint32)))
    return TreePredictor(nodes, binned, raw)


def _loss(model: Any, twin: Any) -> Any:
    """Return scikit-learn's loss, whose link maps scores to predictions."""
    name = model.loss if isinstance(model.loss, str) else "squared_error"  # Huber's loss also has the identity link
    if name == "log_loss":
        K = len(model.classes_)
        return HalfBinomialLoss() if K == 2 else HalfMultinomialLoss(n_classes=K)
    if not isinstance(model.loss, str):
        twin.loss = name
    kinds = {"absolute_error": AbsoluteError, "gamma": HalfGammaLoss, "poisson": HalfPoissonLoss}
    kinds |= {"exponential": ExponentialLoss, "squared_error": HalfSquaredError}
    return PinballLoss(quantile=model.quantile) if name == "quantile" else kinds[name]()
