"""Metadata routing as in scikit-learn: which metadata of a call go to the estimator, the scorer and the splitter of a meta-estimator."""

from __future__ import annotations

from typing import Any

from sklearn import get_config
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, get_routing_for_object, process_routing
from sklearn.utils.validation import has_fit_parameter

from surefit.core.errors import InvalidData


def routing_enabled() -> bool:
    """Return whether scikit-learn's setting ``enable_metadata_routing`` is on."""
    return bool(get_config()["enable_metadata_routing"])


def router_of(owner: Any, *, own: bool = False, **parts: tuple[Any, dict[str, str]]) -> MetadataRouter:
    """Return the router of a meta-estimator.

    Each part, such as ``estimator`` or ``splitter``, is an object and the method of it that each method of the owner
    calls. With ``own``, the owner uses metadata itself.
    """
    router = MetadataRouter(owner=owner)
    if own:
        router.add_self_request(owner)
    for name, (part, calls) in parts.items():
        mapping = MethodMapping()
        for caller, callee in calls.items():
            mapping.add(caller=caller, callee=callee)
        router.add(method_mapping=mapping, **{name: part})
    return router


def route(owner: Any, method: str, params: dict[str, Any], **known: Any) -> Any:
    """Return the metadata of each part and method; ``known`` are arguments with a name that other parts may ask for.

    If routing is disabled, nothing is routed, and ``params`` raise an error.
    """
    if routing_enabled():
        return process_routing(
            owner, method, **params, **{name: value for name, value in known.items() if value is not None}
        )
    if params:
        raise InvalidData(
            f"{type(owner).__name__}: passing {', '.join(sorted(params))} to {method} is only supported if "
            "enable_metadata_routing=True; call sklearn.set_config(enable_metadata_routing=True)."
        )
    return process_routing(owner, method)  # a structure in which every part has no metadata


def score_params(routed: Any, weights: Any) -> dict[str, Any]:
    """Return the metadata of the scorer; without routing, it gets the weights of the rows."""
    if routing_enabled():
        return dict(routed.scorer.score)
    return {} if weights is None else {"sample_weight": weights}


def takes_weights(estimator: Any) -> bool:
    """Return whether ``fit`` of an estimator is given weights: it has the argument and, with routing, requests it."""
    if routing_enabled():
        return bool(get_routing_for_object(estimator).consumes("fit", ("sample_weight",)))
    return has_fit_parameter(estimator, "sample_weight")
