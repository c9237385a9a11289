"""Losses that each procedure of ``Certified`` can bound."""

from __future__ import annotations

from typing import Any

from sklearn.base import is_classifier

from surefit.core.errors import InvalidParameter
from surefit.risk.losses import Loss, read_loss

MEASURED_BY = {
    "holdout": ("zero_one", "brier", "squared", "absolute", "quantile", "miss", "custom"),
    "progressive": ("zero_one", "brier", "squared", "absolute"),
    "transfer": ("zero_one", "brier", "squared", "absolute"),
    "p2l": ("zero_one", "miss", "custom"),
    "vc": ("zero_one",),
}


def loss_for(who: str, base: Any, by: str, loss: Any, y_range: Any, tolerance: float | None) -> Loss:
    """Return the requested or default loss; raise ``InvalidParameter`` if the procedure cannot bound it."""
    found = read_loss(
        who, loss, y_range, classifier=is_classifier(base), has_proba=hasattr(base, "predict_proba"),
        prefer_convex=by == "progressive", tolerance=tolerance,
    )  # fmt: skip
    if found.name in MEASURED_BY[by]:
        return found
    if loss is None and not is_classifier(base):  # options that a regressor must declare
        if by == "p2l":
            raise InvalidParameter(who, "tolerance", "the largest error that is not a miss, with by='p2l'", None)
        raise InvalidParameter(who, "y_range", f"the declared range of the target with by={by!r}", None)
    raise InvalidParameter(who, "loss", f"one of {MEASURED_BY[by]} with by={by!r}", found.name)
