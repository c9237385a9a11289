"""Settings of Numba while it compiles a function of surefit. Numba's global lock is held meanwhile."""

# mypy: disable-error-code="no-untyped-call"
from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from typing import Any

from numba.core import event, transforms, types
from numba.core.base import BaseContext
from numba.core.postproc import PostProcessor, VariableLifetime
from numba.core.target_extension import jit_registry, target_registry
from numba.core.targetconfig import ConfigStack

_OPEN: list[None] = []  # one entry while a function is compiled


@contextmanager
def compilation(parts: Any) -> Iterator[None]:
    """Let Numba compile NumPy functions by the compiler ``parts``, and repeat searches and analyses less often."""
    if _OPEN:  # a function that another one calls
        yield
        return
    processor = target_registry["cpu"]
    usual = jit_registry[processor]
    with ExitStack() as stack:
        stack.callback(_OPEN.clear)
        stack.callback(jit_registry.update, {processor: usual})
        _OPEN.append(None)
        jit_registry.update({processor: partial(usual, pipeline_class=parts)})
        stack.enter_context(_replaced(BaseContext, "refresh", _if_changed(BaseContext.refresh)))
        stack.enter_context(_replaced(PostProcessor, "run", _without_live_variables(PostProcessor.run)))
        for name in ("start_event", "end_event"):
            stack.enter_context(_replaced(event, name, _without_locks(getattr(event, name))))
        function = types.BaseFunction
        stack.enter_context(_replaced(function, "get_call_type", _remembered(function.get_call_type)))
        yield


@contextmanager
def _replaced(owner: Any, name: str, value: Any) -> Iterator[None]:
    usual = getattr(owner, name)
    setattr(owner, name, value)
    try:
        yield
    finally:
        setattr(owner, name, usual)


def _if_changed(refresh: Callable[..., None]) -> Callable[..., None]:
    """Read Numba's lists of implementations again only if one is longer; Numba does so at each function and each lookup."""
    seen: list[int] = []

    def refresh_if_changed(context: Any) -> None:
        if _sizes(context) != seen:
            refresh(context)
            seen[:] = _sizes(context)

    return refresh_if_changed


def _sizes(context: Any) -> list[int]:
    registries = [*context._registries, *context.typing_context._registries]
    return [len(sys.modules), *(len(v) for own in registries for v in vars(own).values() if isinstance(v, list))]


def _remembered(resolve: Callable[..., Any]) -> Callable[..., Any]:
    """Resolve calls of an operator or a NumPy function once per set of types; Numba tries all implementations at each call."""
    known: dict[Any, Any] = {}
    numbers: dict[Any, int] = {}  # of flags: functions with equal flags share results
    numbered: dict[int, Any] = {}  # the same by the id of the flags, which are kept so that no other object gets it

    def get_call_type(function: Any, context: Any, args: Any, kws: Any) -> Any:
        flags = ConfigStack.top_or_none()
        if id(flags) not in numbered:
            numbered[id(flags)] = numbers.setdefault(flags, len(numbers)), flags
        key = numbered[id(flags)][0], id(function), tuple(args), tuple(kws.items())
        if key not in known:
            signature = resolve(function, context, args, kws)
            known[key] = signature, function._impl_keys[signature.args], function
        signature, implementation, _ = known[key]
        function._impl_keys[signature.args] = implementation  # that of a caller with other flags may be there
        return signature

    return get_call_type


def _without_live_variables(run: Callable[..., None]) -> Callable[..., None]:
    """Find the variables that are alive in a block only when they are to be deleted or in a generator; Numba does so after each pass."""

    def run_without(processor: Any, emit_dels: bool = False, extend_lifetimes: bool = False) -> None:
        function = processor.func_ir
        if emit_dels or function.is_generator:
            run(processor, emit_dels, extend_lifetimes)
            return
        function.blocks = transforms.canonicalize_cfg(function.blocks)
        function.variable_lifetime = VariableLifetime(function.blocks)
        function.generator_info = None

    return run_without


def _without_locks(announce: Callable[..., None]) -> Callable[..., None]:
    """Announce events other than calls of LLVM, of which there are thousands in a compilation."""

    def announce_others(kind: Any, *args: Any, **kwargs: Any) -> None:
        if kind != "numba:llvm_lock":
            announce(kind, *args, **kwargs)

    return announce_others
