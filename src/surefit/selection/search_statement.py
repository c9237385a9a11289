"""Claims about the candidate chosen by a search, from held-out errors with a fraction of delta per candidate."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.bounds.base import ROUND_OUT, RiskBound
from surefit.bounds.binomial import holdout
from surefit.bounds.progressive import error_limit
from surefit.core.claims import Claim
from surefit.core.rows import take_rows
from surefit.risk.losses import comparable
from surefit.risk.units import Units
from surefit.selection.drawn_folds import Drawing


def choice_claim(
    models: list[Any],
    X: Any,
    y: np.ndarray,
    splits: list[tuple[np.ndarray, np.ndarray]],
    *,
    units: Units,
    drawing: Drawing,
    candidates: int,
    delta: float,
    declared: tuple[str, ...],
) -> Claim:
    """Return the claim about the chosen candidate's fold models, each tested on its own fold.

    Every candidate is assigned an equal fraction of delta, so the statement holds for whichever candidate is chosen.
    Nothing is claimed if predictions are not one label per row.
    """
    rows = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    parts = zip(models, splits, strict=True)
    predicted = [model.predict(take_rows(X, test)) for model, (_, test) in parts]
    if [np.shape(each) for each in predicted] != [test.shape for _, test in splits]:
        return Claim("selection.unclaimed")
    answers = np.concatenate([comparable(each) for each in predicted])
    wrong = (answers != comparable(y)[rows]).astype(np.float64)
    losses = [units.means(wrong[fold == k], rows[fold == k]) for k in range(len(splits))]
    return claim_of_errors(losses, units, drawing, candidates, delta, declared)


def claim_of_errors(
    losses: list[np.ndarray], units: Units, drawing: Drawing, candidates: int, delta: float, declared: tuple[str, ...]
) -> Claim:
    """Return the claim about the chosen candidate's fold models from the errors of the units that each fold tests."""
    bound = _bound(losses, delta / candidates, units, drawing)
    tags = (*units.tags, *declared, *(tag for tag in bound.assumptions if tag not in (*units.tags, "iid")))
    found = {**bound.terms, **bound.inputs}
    keys = ("n", "errors") if "errors" in found else ("n", "empirical")
    numbers = {**{key: found[key] for key in keys}, "candidates": candidates, "folds": len(losses), "delta": delta}
    return Claim("selection.search", bound.value, numbers={**numbers, "assumes": list(tags)})


def _bound(losses: list[np.ndarray], share: float, units: Units, drawing: Drawing) -> RiskBound:
    """Return the Clopper-Pearson bound for a single random split; otherwise the k-fold bound, corrected for stratified folds."""
    if len(losses) == 1 and drawing.part == 0 and units.kind != "groups":
        return holdout(int(losses[0].sum()), len(losses[0]), share)
    mean, smallest = math.fsum(float(part.mean()) for part in losses) / len(losses), min(map(len, losses))
    return RiskBound(
        "k_fold",
        error_limit(min(mean, 1.0), smallest, smallest, share * drawing.weight),
        share,
        "mean risk of the fold models",
        ("iid", drawing.tag),
        inputs={"empirical": mean, "n": smallest, "folds": len(losses)},
        terms={"empirical": mean},
    )


def draws_claim(draws: int, delta: float) -> Claim:
    """Return the claim that one of the draws is among the best fraction of the search space, for any score."""
    fraction = -math.expm1(math.log(delta) / draws) * (1 + ROUND_OUT)
    return Claim("selection.random_draws", fraction, numbers={"draws": draws, "delta": delta})
