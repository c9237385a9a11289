"""What a set of untouched rows proves about one model: the arithmetic that every risk certificate rests on."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit.bounds.base import RiskBound, confidence_text
from surefit.bounds.binomial import holdout, holdout_loss
from surefit.bounds.conformal import conformal_rank
from surefit.core.claims import Claim
from surefit.risk.claims import answer_witness, risk_claim, sentence
from surefit.risk.losses import Loss, losses_of, respond, trivial_loss
from surefit.risk.units import Units


def tested_bound(loss: Loss, unit_losses: np.ndarray, units: Units, delta: float) -> RiskBound:
    """Clopper-Pearson where a unit is right or wrong, the inverse relative entropy for other losses and mixed groups."""
    if loss.name in ("zero_one", "miss") and units.kind != "groups":
        return holdout(int(unit_losses.sum()), len(unit_losses), delta)
    return holdout_loss(unit_losses, delta)


def tested_claim(
    who: str,
    model: Any,
    X_rows: Any,
    y_rows: np.ndarray,
    *,
    loss: Loss,
    units: Units,
    rows: np.ndarray,
    delta: float,
    share: float | None = None,
    coverage: float = 0.9,
    about: str,
    declared: tuple[str, ...] = (),
    predictor: str = "",
    train_rows: np.ndarray | None = None,
) -> Claim:
    """Test ``model`` on rows it has not seen; ``rows`` are their places in the table that ``verify`` will be given.

    ``share`` is what may be spent of ``delta`` if the rows serve more than one statement.
    """
    classes = np.asarray(model.classes_) if loss.method == "predict_proba" else None
    answer = respond(model, X_rows, loss, classes)
    losses = losses_of(who, loss, y_rows, answer, classes)
    witness = {"test_rows": rows, **answer_witness(loss, answer, losses, classes)}
    if train_rows is not None:
        witness["train_rows"] = train_rows
    if units.kind != "rows":
        witness["units"] = units.renumbered(rows)
    share = delta if share is None else share
    tags = (*units.tags, *declared)
    unit_losses = units.means(losses, rows)
    if loss.name == "quantile":
        whose = "mean |y - prediction| in a group," if units.kind == "groups" else "|y - prediction|"
        return _quantile_claim(whose, unit_losses, coverage, delta, share, about, tags, predictor, witness)
    bound = tested_bound(loss, unit_losses, units, share)
    return risk_claim(
        "risk.holdout", bound, loss, about=about, tags=tags, delta=delta, trivial=trivial_loss(loss, y_rows),
        predictor=predictor, witness=witness,
    )  # fmt: skip


def _quantile_claim(whose, errors, coverage, delta, share, about, tags, predictor, witness) -> Claim:
    """Order statistic of the absolute errors: needs no range of the target."""
    m = len(errors)
    rank = conformal_rank(m, 1.0 - coverage, share)
    value = float(np.sort(errors)[rank - 1]) if rank <= m else float("inf")
    assumptions = (*tags, "rows_untouched")
    empty = ", which is vacuous (too few rows)" if rank > m else ""
    return Claim(
        "risk.quantile",
        "risk_bound",
        f"{whose} of {about} <= {value:.4g} with probability at least {coverage:.4g} for what is to come, with confidence "
        f"{confidence_text(delta)}{empty}, {sentence(assumptions)}",
        value=value,
        about=about,
        assumptions=assumptions,
        confidence=1.0 - delta,
        numbers={
            "n": m,
            "rank": rank,
            "coverage": coverage,
            "loss": "quantile",
            "delta": delta,
            "delta_spent": share,
            "predictor": predictor,
        },
        witness=witness,
    )
