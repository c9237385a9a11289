"""Reads forests of scikit-learn."""

from __future__ import annotations

from surefit.audit.free_bounds import free_of_forest
from surefit.audit.labels import labels_of
from surefit.audit.reading import Reading, attribute, reader, refuse, target_of
from surefit.checks.audited_forest import worst_leaf
from surefit.checks.base import Data
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import InvalidData

ROUNDING = 1e-9


@reader("sklearn", "RandomForestClassifier", "RandomForestRegressor", "ExtraTreesClassifier", "ExtraTreesRegressor")
def read_forest(model, data: Data, tol: float) -> Reading:
    """Leaves of every tree hold the mean, or the shares of the classes, of the rows drawn for it."""
    attribute(model, "estimators_")
    target_of(model, data)
    if model.criterion in ("absolute_error", "poisson"):
        raise refuse(model, "criterion", "one whose leaves hold means")
    if data.weights is not None or model.n_outputs_ != 1:
        raise InvalidData(f"certify: of {type(model).__name__} fits without weights and with one target are read.")
    classes = None
    if hasattr(model, "classes_"):
        if model.class_weight is not None:
            raise refuse(model, "class_weight", "None")
        classes = labels_of(model, data, None)[0]
    count = len(model.estimators_)
    problem = {
        "classes": classes,
        "single_precision": True,
        "objective": "mean of trees, each grown on rows drawn for it",
    }

    def state(draft: Certificate, rows: Data) -> list[Claim]:
        worst = worst_leaf(draft, rows)
        words = f"Leaves of all {count} trees hold what their rows say, up to {worst:.3g} of the range of y."
        return [
            Claim(
                "audit.forest.leaves",
                "optimality",
                words,
                value=worst,
                limit=ROUNDING,
                about="every leaf, given its rows",
            ),
            Claim(
                "forest.splits",
                "no_claim",
                "Splits were chosen among columns drawn at random: none is claimed to be the best.",
            ),
        ]

    return Reading("C", problem, (), state, derived="forest", free=free_of_forest)
