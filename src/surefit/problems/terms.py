"""Losses and penalties as parameters: objects, names, or their JSON form."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefit import losses, penalties
from surefit.core.errors import InvalidParameter

#: Losses by name; their parameters have default values.
LOSSES = {cls.name: cls for cls in losses.slope.classes}


def loss_term(value: Any, who: str = "problem") -> Any:
    """Return the loss that a parameter defines; for ``Lp``, fits and checks support only p = 2."""
    loss = _loss(value, who)
    if isinstance(loss, losses.Lp) and loss.p != 2.0:
        raise InvalidParameter(who, "loss", "Lp(2.0), Absolute() for p = 1, or another loss of surefit.losses", value)
    if isinstance(loss, losses.Tweedie) and not 1.0 <= loss.power <= 2.0:
        raise InvalidParameter(who, "loss", "Tweedie(power) with a power from 1 to 2, where it is convex", value)
    return loss


def _loss(value: Any, who: str) -> Any:
    if isinstance(value, str) and value in LOSSES:
        return LOSSES[value]()
    if isinstance(value, dict) and value.keys() == {"record"}:
        fields = dict(value["record"])
        name = fields.pop("term")
        cls = next((cls for cls in losses.slope.classes if cls.__name__ == name), None)
        if cls is not None:
            return cls(**fields)
    if type(value) in losses.slope.classes:
        return value
    raise InvalidParameter(who, "loss", f"a loss of surefit.losses, or one of {', '.join(sorted(LOSSES))}", value)


def loss_numbers(loss: Any) -> dict[str, Any]:
    """Return the loss in the form stored in a problem."""
    return {"loss": type(loss).name, **{name: float(number) for name, number in loss._asdict().items()}}


def penalty_term(value: Any, alpha: float = 1.0, who: str = "problem") -> Any:
    """Return the penalty that a parameter defines; a penalty given by name has weight ``alpha``."""
    if value is None:
        return penalties.L2(0.0)
    if isinstance(value, str) and value in ("l1", "l2"):
        return {"l1": penalties.L1, "l2": penalties.L2}[value](float(alpha))
    if isinstance(value, dict) and value.keys() == {"record"}:
        return _from_record(value["record"])
    if type(value) in penalties.penalty_value.classes:
        return value
    raise InvalidParameter(who, "penalty", "None, 'l1', 'l2' or a penalty of surefit.penalties", value)


def _from_record(record: dict[str, Any]) -> Any:
    fields = dict(record)
    cls = getattr(penalties, fields.pop("term"))
    read: dict[str, Any] = {}
    for name, item in fields.items():
        read[name] = _from_record(item["record"]) if isinstance(item, dict) else item
        if name == "factors":
            read[name] = np.asarray(item, dtype=np.float64)
    return cls(**read)


def penalty_numbers(penalty: Any, n_features: int) -> dict[str, Any]:
    """Return the penalty in the form stored in a problem: weights per feature, sign constraint, radius."""
    if isinstance(penalty, penalties.L1Ball):
        return {"l1": 1.0, "l2": 0.0, "factors": None, "positive": False, "radius": float(penalty.radius)}
    positive = isinstance(penalty, penalties.Positive)
    inner = penalty.base if positive else penalty
    factors = None
    if isinstance(inner, penalties.Weighted):
        factors, inner = np.asarray(inner.factors, dtype=np.float64), inner.base
        positive, inner = (True, inner.base) if isinstance(inner, penalties.Positive) else (positive, inner)
    one = penalties.elastic_terms(inner, 1)
    return {
        "l1": float(one.slopes[0]),
        "l2": float(one.curvatures[0]),
        "factors": None if factors is None else factors.tolist(),
        "positive": bool(positive),
        "radius": None,
    }
