"""Penalties: convex functions of the coefficients, each a NamedTuple with its verbs."""

from surefit.penalties.base import (
    ElasticTerms,
    coordinate_conjugate,
    coordinate_scale,
    coordinate_value,
    dual_scale,
    elastic_terms,
    penalty_conjugate,
    penalty_value,
    project,
    prox,
)
from surefit.penalties.elastic_net import ElasticNetPenalty
from surefit.penalties.l1 import L1
from surefit.penalties.l1_ball import L1Ball
from surefit.penalties.l2 import L2
from surefit.penalties.positive import Positive
from surefit.penalties.weighted import Weighted

__all__ = [
    "L1",
    "L2",
    "ElasticNetPenalty",
    "ElasticTerms",
    "L1Ball",
    "Positive",
    "Weighted",
    "coordinate_conjugate",
    "coordinate_scale",
    "coordinate_value",
    "dual_scale",
    "elastic_terms",
    "penalty_conjugate",
    "penalty_value",
    "project",
    "prox",
]
