"""What is said of a penalty that was chosen by cross-validation."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from surefit.checks.audited_choices import excess_of_choice
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim

State = Callable[[Certificate, Data], list[Claim]]
TIES = 1e-6  # relative excess up to which rounding decides between two penalties


def with_ridge_choice(model, data: Data, state: State) -> State:
    """Add that the ridge penalty is the best of its candidates, rows left out one at a time, where that was the rule."""
    by_rows = type(model).__name__ == "RidgeCV" and model.cv is None and model.scoring is None
    if not by_rows or data.weights is not None or np.ndim(model.coef_) != 1:
        return state
    candidates = [float(alpha) for alpha in np.ravel(model.alphas)]

    def more(draft: Certificate, rows: Data) -> list[Claim]:
        found = excess_of_choice(draft, rows, candidates)
        if not math.isfinite(found):
            return state(draft, rows)
        words = f"Of {len(candidates)} penalties {float(model.alpha_):g} errs least on rows left out one at a time"
        words += "." if found <= TIES else f", up to {100 * found:.3g} %."
        numbers = {"candidates": candidates}
        claim = Claim("audit.choice_by_left_out", "process_fact", words, value=found, limit=TIES, numbers=numbers)
        return [*state(draft, rows), claim]

    return more


def with_path_choice(model, state: State) -> State:
    """Add that the penalty has the smallest mean squared error of its path, by the errors that the model keeps."""
    if not hasattr(model, "mse_path_"):
        return state
    errors = np.asarray(model.mse_path_, dtype=np.float64)
    errors = errors.reshape(-1, *errors.shape[-2:])
    ratios = np.atleast_1d(getattr(model, "l1_ratio", 1.0))
    alphas = np.broadcast_to(np.asarray(model.alphas_, dtype=np.float64), errors.shape[:2])
    own = (alphas == model.alpha_) & (ratios == getattr(model, "l1_ratio_", ratios[0]))[:, None]
    return _by_scores(-errors.reshape(-1, errors.shape[-1]), own.ravel(), f"{float(model.alpha_):g}", state)


def with_score_choice(model, C: float, ratio: float, state: State) -> State:
    """Add that C, with its mixture of penalties, has the best mean score of its candidates, by the scores that the model keeps."""
    scores, candidates = model.scores_, np.asarray(model.Cs_, dtype=np.float64)
    if isinstance(scores, dict):  # an older form: by class, the mixture last
        scores = np.asarray(next(iter(scores.values())), dtype=np.float64)
        scores = scores.swapaxes(1, 2) if scores.ndim == 3 else scores
    scores = np.asarray(scores, dtype=np.float64)
    scores = scores.reshape(len(scores), -1, scores.shape[-1])  # folds, mixtures, values of C
    ratios = np.ravel([r or 0.0 for r in np.ravel(getattr(model, "l1_ratios_", [ratio])).tolist()])
    if scores.shape[1:] != (len(ratios), len(candidates)):
        return state
    own = (ratios == ratio)[:, None] & (candidates == C)
    return _by_scores(scores.reshape(len(scores), -1).T, own.ravel(), f"{C:g}", state)


def _by_scores(scores: np.ndarray, own: np.ndarray, name: str, state: State) -> State:
    if not own.any():
        return state
    chosen = int(np.argmax(own))

    def more(draft: Certificate, rows: Data) -> list[Claim]:
        means = scores.mean(axis=1)
        short = float(means.max() - means[chosen])
        words = f"Of {len(means)} candidates {name} has the best mean score over {scores.shape[1]} folds"
        words += (
            ", by the scores that the model keeps."
            if short <= 0
            else f", up to {short:.3g}, by the scores that the model keeps."
        )
        limit, numbers = TIES * float(np.max(np.abs(means))), {"chosen": chosen}
        witness = {"scores": scores}
        claim = Claim(
            "audit.choice_by_scores", "process_fact", words, value=short, limit=limit, numbers=numbers, witness=witness
        )
        return [*state(draft, rows), claim]

    return more
