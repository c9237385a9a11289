"""Generic functions that dispatch on the type of a term, in Python and inside compiled loops.

A term (a loss, a penalty, a design) is a NamedTuple: plain data that Numba understands. Its behavior is a set of
generic functions ("verbs") that dispatch on the type of their first argument: at run time in Python, at compile time
inside a ``@compiled`` loop. Numba's disk cache keys on the *type* of the term, so a second process loads machine code
instead of compiling; jitclasses, closures and functions passed as arguments do not have this property.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any, Protocol, TypeVar, cast

import numpy as np
from numba.extending import overload

from surefit.core.compilation.nested import PartCompiler
from surefit.core.errors import MissingVerb

F = TypeVar("F", bound=Callable[..., Any])


class Verb(Protocol):
    """Generic function that dispatches on the type of its first argument."""

    classes: Any

    def __call__(self, term: Any, *args: Any) -> Any:
        """Dispatch on the type of ``term``."""

    def register(self, cls: type) -> Callable[[F], F]:
        """Register the implementation for a class of terms."""


def elementwise(stub: Callable[..., Any]) -> Verb:
    """Return a verb like :func:`generic` that also accepts arrays in Python and then works element by element."""
    return generic(stub, over_arrays=True)


def generic(stub: Callable[..., Any], *, over_arrays: bool = False) -> Verb:
    """Turn ``stub(term, ...)`` into a verb that dispatches on the NamedTuple class of ``term``.

    Implementations are added with ``@verb.register(TermClass)``, in the file of the class, so that importing the class
    is enough. ``verb.classes`` is the registry of these classes. ``@verb.register(object)`` adds the implementation for
    all classes that have none of their own.

    Examples
    --------
    >>> from typing import NamedTuple
    >>> from surefit.core.dispatch import generic
    >>> @generic
    ... def area(shape): "The area of a shape."
    >>> class Square(NamedTuple):
    ...     side: float
    >>> @area.register(Square)
    ... def _(shape):
    ...     return shape.side ** 2
    >>> area(Square(3.0))
    9.0
    """
    table: dict[Any, Callable[..., Any]] = {}

    @wraps(stub)
    def verb(term: Any, *args: Any) -> Any:
        try:
            implementation = table.get(type(term)) or table[object]
        except KeyError:
            raise MissingVerb(term, verb) from None
        if over_arrays and any(np.ndim(value) for value in args):
            return np.vectorize(lambda *each: float(implementation(term, *each)), otypes=[np.float64])(*args)
        return implementation(term, *args)

    # Inheriting the caller's flags is Numba's default: a verb used in a fast-math loop is fast-math there, IEEE elsewhere.
    options: Any = {"pipeline_class": PartCompiler}

    @overload(verb, strict=False, inline="never", jit_options=options)
    def _at_compile_time(term: Any, *args: Any) -> Any:
        cls = getattr(term, "instance_class", None)
        return None if cls is None else table.get(cls) or table.get(object)

    def register(cls: type) -> Callable[[F], F]:
        def add(implementation: F) -> F:
            if cls in table:
                raise TypeError(f"{stub.__name__}: {cls.__name__} is already registered.")
            if implementation.__name__ == "_":
                # Numba finds code by module, qualified name, types and a number that starts at one in every process. With equal
                # names, a process that loads code cached by two others could run one verb in place of another.
                implementation.__qualname__ = f"{stub.__name__}_{cls.__name__}"
            table[cls] = implementation
            return implementation

        return add

    verb.register = register  # type: ignore[attr-defined]
    verb.classes = table.keys()  # type: ignore[attr-defined]
    return cast(Verb, verb)


def require(term: Any, *verbs: Any) -> None:
    """Raise ``MissingVerb`` if ``term`` lacks one of ``verbs``; solvers call it before they enter compiled code."""
    for verb in verbs:
        if type(term) not in verb.classes:
            raise MissingVerb(term, verb)
