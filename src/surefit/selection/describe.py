"""Description of a learner by hypothesis class, loss and optimizer."""

from __future__ import annotations

import inspect
import re
from typing import Any, NamedTuple

from surefit.core.errors import InvalidData


class Description(NamedTuple):
    """Hypothesis class, loss and optimizer of a learner."""

    name: str
    hypothesis_class: str
    loss: str
    optimizer: str


def describe(estimator: Any) -> Description:
    """Return the hypothesis class, the loss and the optimizer of an estimator, or of its inner estimator.

    Parameters
    ----------
    estimator : estimator or class of surefit
        A meta-estimator (``Certified``, ``GridSearchCV``, a pipeline, ...) is described by its inner estimator.

    Examples
    --------
    >>> from surefit import LinearRegression, describe
    >>> describe(LinearRegression()).hypothesis_class, describe(LinearRegression).loss
    ('affine functions', 'squared')
    """
    for name in ("estimator", "_final_estimator"):
        inner = getattr(estimator, name, None)
        if inner is not None and not inspect.isclass(estimator) and not _found(estimator):
            return describe(inner)
    found = _found(estimator)
    if found is None:
        known = estimator.__name__ if inspect.isclass(estimator) else type(estimator).__name__
        raise InvalidData(
            f"describe: {known} does not state a hypothesis class, a loss and an optimizer; pass an estimator of surefit."
        )
    return found


def _found(estimator: Any) -> Description | None:
    kind = estimator if inspect.isclass(estimator) else type(estimator)
    text = " ".join((inspect.getdoc(kind) or "").split())
    fields = [
        re.search(rf"{label}: (.+?)(?=\.(?: [A-Z`:]|$))", text)
        for label in ("Hypothesis class", "Loss", "Optimi[sz]er")
    ]
    if not all(fields):
        return None
    return Description(kind.__name__, *(match.group(1) for match in fields if match))
