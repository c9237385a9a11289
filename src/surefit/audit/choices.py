"""Claims about a penalty that was chosen by cross-validation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from surefit.audit.stating import stated
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

State = Callable[[Certificate, Data], list[Claim]]


def with_ridge_choice(model, data: Data, state: State) -> State:
    """Add the claim that the ridge penalty has the smallest leave-one-out error, if it was chosen by that rule."""
    by_rows = type(model).__name__ == "RidgeCV" and model.cv is None and model.scoring is None
    if not by_rows or data.weights is not None or np.ndim(model.coef_) != 1:
        return state
    witness = {"candidates": np.ravel(model.alphas).astype(np.float64)}
    return lambda draft, rows: [*state(draft, rows), stated(draft, rows, "choice_by_left_out", witness)]


def with_path_choice(model, state: State) -> State:
    """Add the claim that the penalty has the smallest mean squared error in the model's ``mse_path_``."""
    if not hasattr(model, "mse_path_"):
        return state
    errors = np.asarray(model.mse_path_, dtype=np.float64)
    errors = errors.reshape(-1, *errors.shape[-2:])
    ratios = np.atleast_1d(getattr(model, "l1_ratio", 1.0))
    alphas = np.broadcast_to(np.asarray(model.alphas_, dtype=np.float64), errors.shape[:2])
    own = (alphas == model.alpha_) & (ratios == getattr(model, "l1_ratio_", ratios[0]))[:, None]
    return _by_scores(-errors.reshape(-1, errors.shape[-1]), own.ravel(), float(model.alpha_), state)


def with_score_choice(model, C: float, ratio: float, state: State) -> State:
    """Add the claim that C and ``l1_ratio`` have the best mean score in the model's ``scores_``."""
    scores, candidates = model.scores_, np.asarray(model.Cs_, dtype=np.float64)
    if isinstance(scores, dict):  # older versions: one array per class, l1_ratio last
        scores = np.asarray(next(iter(scores.values())), dtype=np.float64)
        scores = scores.swapaxes(1, 2) if scores.ndim == 3 else scores
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores.reshape(len(scores), -1, scores.shape[-1])  # folds, values of l1_ratio, values of C
    ratios = np.ravel([r or 0.0 for r in np.ravel(getattr(model, "l1_ratios_", [ratio])).tolist()])
    if scores.shape[1:] != (len(ratios), len(candidates)):
        return state
    own = (ratios == ratio)[:, None] & (candidates == C)
    return _by_scores(scores.reshape(len(scores), -1).T, own.ravel(), C, state)


def _by_scores(scores: np.ndarray, own: np.ndarray, value: float, state: State) -> State:
    if not own.any():
        return state
    witness = {"scores": scores, "chosen": np.argmax(own), "value": np.asarray(value, dtype=np.float64)}
    witness = {name: np.asarray(array) for name, array in witness.items()}
    return lambda draft, rows: [*state(draft, rows), stated(draft, rows, "choice_by_scores", witness)]
