"""Generic functions: one verb, many terms, the same call in Python and inside compiled loops.

A term (a loss, a penalty, a design) is a NamedTuple: plain data that Numba understands. Its behaviour is a set of
generic functions ("verbs") that dispatch on the type of their first argument: at run time in Python, at compile time
inside a ``@compiled`` loop. Numba's disk cache keys on the *type* of the term, so a second process loads machine code
instead of compiling; jitclasses, closures and functions passed as arguments do not have that property.
"""

from collections.abc import Callable
from functools import wraps
from typing import Any

from numba.extending import overload

from surefit.core.errors import MissingVerb


def generic(stub: Callable) -> Any:
    """Make ``stub(term, ...)`` a verb that dispatches on the NamedTuple class of ``term``.

    Implementations are added with ``@verb.register(TermClass)``, in the file of the class, so that importing the class
    is enough. ``verb.classes`` is the registry that contract tests walk over.

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
    table: dict[Any, Callable] = {}

    @wraps(stub)
    def verb(term, *args):
        try:
            implementation = table[type(term)]
        except KeyError:
            raise MissingVerb(term, verb) from None
        return implementation(term, *args)

    # Inheriting the caller's flags is Numba's default: a verb used in a fast-math loop is fast-math there, IEEE elsewhere.
    @overload(verb, strict=False, inline="never")
    def _at_compile_time(term, *args):
        return table.get(getattr(term, "instance_class", None))

    def register(cls: type) -> Callable:
        def add(implementation: Callable) -> Callable:
            if cls in table:
                raise TypeError(f"{stub.__name__}: {cls.__name__} is already registered.")
            table[cls] = implementation
            return implementation

        return add

    verb.register = register  # type: ignore[attr-defined]
    verb.classes = table.keys()  # type: ignore[attr-defined]
    return verb


def require(term: Any, *verbs: Any) -> None:
    """Raise a readable error if ``term`` lacks one of ``verbs``; solvers call it before they enter compiled code."""
    for verb in verbs:
        if type(term) not in verb.classes:
            raise MissingVerb(term, verb)
