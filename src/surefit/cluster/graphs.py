"""Task graphs of passes, constructed directly because the overhead of ``dask.delayed`` would dominate short passes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple
from uuid import uuid4

from cloudpickle import dumps
from dask.delayed import Delayed

from surefit.cluster.running import active_client
from surefit.core.threads import one_blas_thread

COPIED = 2**18  # bytes of arguments that are copied into the tasks of a pass; more are shared by a task of their own
FAN = 4  # number of values that a task combines; a power of two, so that sums do not depend on it


class _Opaque:
    """Wrapper around values that Dask must not traverse."""

    def __init__(self, *values: Any) -> None:
        self.values = values


class Call(NamedTuple):
    """A function with its arguments: a value that is copied into every task, or the key of a task that all partitions share."""

    name: str
    given: Any
    graph: dict[Any, Any]


def shared(function: Callable[..., Any], small: tuple[Any, ...], parts: int) -> Call:
    """Return a call for ``parts`` partitions.

    If the arguments are few bytes, each task gets a copy: a task that creates them first would cost as much time as the
    others, which have to wait for it.
    """
    name, value = str(getattr(function, "__name__", "pass")), _Opaque(function, small)
    if active_client() is None or parts * len(dumps(small, protocol=5)) <= COPIED:
        return Call(name, value, {})
    key = f"call-{uuid4().hex}"
    return Call(name, key, {key: value})


def applied(call: Call, *values: Delayed, more: tuple[Any, ...] = ()) -> Delayed:
    """Return ``function(first value, *small, *more, *other values)`` for a call from :func:`shared`, as a delayed value."""
    key = f"{call.name}-{uuid4().hex}"
    graph = {**call.graph, **_together(values)}
    graph[key] = (_apply, call.given, _Opaque(*more), *(value.key for value in values))
    return Delayed(key, graph)


def tree_of(level: list[Delayed], combine: Callable[[Any, Any], Any]) -> Delayed:
    """Combine all values pairwise in a tree of adjacent values that depends only on their number; a task combines up to four."""
    graph, keys, how = _together(level), [value.key for value in level], _Opaque(combine)
    while len(keys) > 1:
        groups, keys = [keys[i : i + FAN] for i in range(0, len(keys), FAN)], []
        for group in groups:
            key = group[0] if len(group) == 1 else f"combine-{uuid4().hex}"
            if len(group) > 1:
                graph[key] = (_combine, how, *group)
            keys.append(key)
    return Delayed(keys[0], graph)


def _together(values: Any) -> dict[Any, Any]:
    graph: dict[Any, Any] = {}
    for value in values:
        graph.update(value.dask)
    return graph


def _apply(call: _Opaque, more: _Opaque, value: Any, *others: Any) -> Any:
    function, small = call.values
    with one_blas_thread():
        return function(value, *small, *more.values, *others)


def _combine(how: _Opaque, *values: Any) -> Any:
    level, (combine,) = list(values), how.values
    with one_blas_thread():
        while len(level) > 1:
            level = [combine(*level[i : i + 2]) if i + 1 < len(level) else level[i] for i in range(0, len(level), 2)]
    return level[0]
