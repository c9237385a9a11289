"""Task graphs of passes, constructed directly because the overhead of ``dask.delayed`` would dominate short passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

from dask.delayed import Delayed

from surefit.core.threads import one_blas_thread


class _Opaque:
    """Wrapper around values that Dask must not traverse."""

    def __init__(self, *values: Any) -> None:
        self.values = values


def shared(function: Callable[..., Any], small: tuple[Any, ...]) -> Delayed:
    """Return a function and its arguments as one delayed value that all partitions share."""
    key = f"call-{uuid4().hex}"
    return Delayed(key, {key: _Opaque(function, small)})


def applied(call: Delayed, *values: Delayed, more: tuple[Any, ...] = ()) -> Delayed:
    """Return ``function(first value, *small, *more, *other values)`` for a call from :func:`shared`, as a delayed value."""
    key = f"{_name_of(call)}-{uuid4().hex}"
    graph = _together((call, *values))
    graph[key] = (_apply, call.key, _Opaque(*more), *(value.key for value in values))
    return Delayed(key, graph)


def tree_of(level: list[Delayed], combine: Callable[[Any, Any], Any]) -> Delayed:
    """Combine all values pairwise in a tree of adjacent values that depends only on their number."""
    graph, keys, how = _together(level), [value.key for value in level], _Opaque(combine)
    while len(keys) > 1:
        paired = []
        for i in range(0, len(keys) - 1, 2):
            key = f"combine-{uuid4().hex}"
            graph[key] = (_combine, how, keys[i], keys[i + 1])
            paired.append(key)
        keys = paired + keys[2 * len(paired) :]
    return Delayed(keys[0], graph)


def _name_of(call: Delayed) -> str:
    graph: Any = call.dask
    return str(getattr(graph[call.key].values[0], "__name__", "pass"))


def _together(values: Any) -> dict[Any, Any]:
    graph: dict[Any, Any] = {}
    for value in values:
        graph.update(value.dask)
    return graph


def _apply(call: _Opaque, more: _Opaque, value: Any, *others: Any) -> Any:
    function, small = call.values
    with one_blas_thread():
        return function(value, *small, *more.values, *others)


def _combine(how: _Opaque, a: Any, b: Any) -> Any:
    with one_blas_thread():
        return how.values[0](a, b)
