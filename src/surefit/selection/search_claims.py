"""What a search proves about the candidate it chose: counted on held-out rows, at one candidate's share of delta."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from surefit.bounds.base import RiskBound, confidence_text
from surefit.bounds.binomial import holdout
from surefit.bounds.progressive import error_limit
from surefit.checks.risk_rows import take_rows
from surefit.core.claims import Claim
from surefit.risk.claims import sentence
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
    """Return the claim about the chosen candidate's fold models, tested each on its own fold.

    Every candidate was given an equal share of delta, so the statement holds for whichever was chosen.
    """
    rows = np.concatenate([test for _, test in splits])
    fold = np.repeat(np.arange(len(splits)), [len(test) for _, test in splits])
    parts = zip(models, splits, strict=True)
    answers = np.concatenate([comparable(model.predict(take_rows(X, test))) for model, (_, test) in parts])
    wrong = (answers != comparable(y)[rows]).astype(np.float64)
    losses = [units.means(wrong[fold == k], rows[fold == k]) for k in range(len(splits))]
    bound, free = (_bound(losses, share, units, drawing) for share in (delta / candidates, delta))
    about = "the fold models of the chosen candidate, on average"
    if len(splits) == 1:
        about = "the chosen candidate, fitted on the training part"
    tags = (*units.tags, *declared, *(tag for tag in bound.assumptions if tag not in units.tags))
    price = bound.value - free.value
    empty = ", which is vacuous" if bound.vacuous else ""
    witness = {"predictions": answers, "test_rows": rows, "fold": fold}
    if units.kind != "rows":
        witness["units"] = units.codes[rows]
    if not _others_trained(splits, len(y)):
        witness["trained"] = np.array([np.isin(np.arange(len(y)), train) for train, _ in splits], dtype=np.int64)
    return Claim(
        "selection.search",
        "risk_bound",
        f"probability of error of {about} <= {bound.value:.4g} with confidence {confidence_text(delta)}{empty}, of which {price:.2g} is "
        f"the price of having compared {candidates} candidates{_strata_words(drawing, bound, losses)}, {sentence(tags)}",
        value=bound.value,
        about=about,
        assumptions=tags,
        confidence=1.0 - delta,
        numbers={
            **bound.terms,
            **bound.inputs,
            "bound": bound.name,
            "delta": delta,
            "delta_spent": delta * drawing.weight / candidates,
            "candidates": candidates,
            "part": [drawing.part.numerator, drawing.part.denominator],
            "weight": drawing.weight,
            "price": price,
        },
        witness=witness,
    )


def _bound(losses: list[np.ndarray], share: float, units: Units, drawing: Drawing) -> RiskBound:
    """Clopper-Pearson for one blind split; else the bound of k folds, at a share that pays for folds drawn by class."""
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


def _strata_words(drawing: Drawing, bound: RiskBound, losses: list[np.ndarray]) -> str:
    if drawing.part == 0:
        return ""
    smallest = min(map(len, losses))
    blind = error_limit(min(bound.terms["empirical"], 1.0), smallest, smallest, bound.delta)
    return f" and {bound.value - blind:.2g} that of folds drawn by class"


def _others_trained(splits: list[tuple[np.ndarray, np.ndarray]], n: int) -> bool:
    return all(np.array_equal(np.sort(train), np.setdiff1d(np.arange(n), test)) for train, test in splits)


def draws_claim(draws: int, delta: float) -> Claim:
    """Return the statement that one of the draws is among the best of the whole search space, by whatever score."""
    fraction = -math.expm1(math.log(delta) / draws)
    return Claim(
        "selection.random_draws",
        "uncertainty",
        f"one of the {draws} draws is among the best {fraction:.4g} of the search space with confidence {confidence_text(delta)}, if the "
        "draws are independent",
        value=fraction,
        about="the search",
        assumptions=("independent_draws",),
        confidence=1.0 - delta,
        numbers={"draws": draws, "delta": delta},
    )
