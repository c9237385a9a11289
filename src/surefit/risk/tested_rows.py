"""Bounds from held-out rows for one model, used by all risk certificates."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from surefit.bounds.base import RiskBound
from surefit.bounds.binomial import holdout, holdout_loss
from surefit.bounds.conformal import conformal_rank
from surefit.core.claims import Claim
from surefit.risk.claims import risk_claim
from surefit.risk.losses import Loss, losses_of, respond, trivial_loss
from surefit.risk.units import Units


def tested_bound(loss: Loss, unit_losses: np.ndarray, units: Units, delta: float) -> RiskBound:
    """Return the Clopper-Pearson bound for 0-1 losses of units, or the inverse KL bound for other losses."""
    if loss.name in ("zero_one", "miss") and units.kind != "groups":
        return holdout(int(unit_losses.sum()), len(unit_losses), delta)
    return holdout_loss(unit_losses, delta)


class Asked(NamedTuple):
    """Description of the test of a model: the loss, the counted units, and the declared assumptions."""

    who: str
    loss: Loss
    units: Units
    delta: float
    coverage: float
    declared: tuple[str, ...]


def tested_claim(
    asked: Asked,
    model: Any,
    X_rows: Any,
    y_rows: np.ndarray,
    rows: np.ndarray,
    share: float | None = None,
    predictor: str = "",
) -> Claim:
    """Test ``model`` on rows it has not seen; ``rows`` are their indices in the table passed to ``verify``.

    ``share`` is the part of ``delta`` available to this claim if the rows are used for several claims.
    """
    loss = asked.loss
    classes = np.asarray(model.classes_) if loss.method == "predict_proba" else None
    losses = losses_of(asked.who, loss, y_rows, respond(model, X_rows, loss, classes), classes)
    return claim_of_losses(asked, losses, y_rows, rows, share, predictor)


def claim_of_losses(
    asked: Asked,
    losses: np.ndarray,
    y_rows: np.ndarray,
    rows: np.ndarray,
    share: float | None = None,
    predictor: str = "",
) -> Claim:
    """Return the claim of :func:`tested_claim` from the losses of the tested rows."""
    _, loss, units, delta, coverage, declared = asked
    spent = delta if share is None else share
    more: dict[str, Any] = {} if share is None else {"delta_spent": share}
    witness = {"units": units.renumbered(rows)} if share is not None and units.kind != "rows" else {}
    tags = (*units.tags, *declared)
    unit_losses = units.means(losses, rows)
    if loss.name == "quantile":
        numbers = {
            "n": len(unit_losses),
            "coverage": coverage,
            "assumes": [*tags, "rows_untouched"],
            "delta": delta,
            **more,
        }
        numbers |= {"loss": "quantile", "tested": len(rows), "low": loss.low, "high": loss.high, "predictor": predictor}
        rank = conformal_rank(len(unit_losses), 1.0 - coverage, spent)
        value = float(np.sort(unit_losses)[rank - 1]) * (1 + 1e-12) if rank <= len(unit_losses) else float("inf")
        return Claim("risk.quantile", value, numbers=numbers, witness=witness)
    return risk_claim(
        "risk.holdout", tested_bound(loss, unit_losses, units, spent), loss, tags=tags, delta=delta, predictor=predictor,
        trivial=trivial_loss(loss, y_rows), tested=len(rows), witness=witness, **more,
    )  # fmt: skip
