"""Guards of a fit against numbers whose squares overflow or underflow in double precision, and against errors of other libraries.

A fit of such numbers is verified before it returns: floating-point overflow is an error while it runs, its certificate
must verify, and its outputs for the training rows must be finite. If any of these conditions fails, the error message
names the numbers to rescale.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import ConvergenceWarning, InvalidData, InvalidParameter, SurefitError
from surefit.core.fingerprint import largest_of_many
from surefit.core.guards.interrupts import as_interrupts
from surefit.core.guards.refusals import explained
from surefit.core.storage import is_sparse
from surefit.core.threads import blas_threads, one_blas_thread, sum_blocks

#: A mean square outside this range is extreme; the limits correspond to entries of 1e20 and 1e-20, whose fourth powers
#: are representable.
LARGEST, SMALLEST = 1e40, 1e-40
FEW = 10_000  # numbers up to which BLAS starts no threads
MANY = 2**20  # numbers in a block, which threads share
ANSWERS = ("predict", "predict_proba", "decision_function", "transform", "score_samples")
UNPROVED = "fit.unproved"
FAILURES = (ArithmeticError, LookupError, SurefitError, TypeError, ValueError)


class Watch(NamedTuple):
    """The running fit of this thread, and the extreme numbers found in its data."""

    owner: Any
    found: list[str]
    last: list[tuple[np.ndarray, float]]  # rows and targets, with their mean squares


_watch: ContextVar[Watch | None] = ContextVar("_watch", default=None)


def running() -> str:
    """Return the name of the estimator that is being fitted in this thread, for error messages."""
    watch = _watch.get()
    return "surefit" if watch is None else type(watch.owner).__name__


def extreme() -> bool:
    """Return whether the data of the running fit of this thread contain extreme numbers."""
    watch = _watch.get()
    return watch is not None and bool(watch.found)


def mean_square(values: np.ndarray) -> float:
    """Return the mean of the squares, which is finite only if all values are; a fit computes that of its rows once."""
    watch = _watch.get()
    for array, square in () if watch is None else watch.last:
        if array is values:
            return square
    flat = values.ravel(order="K")

    def part(start: int, stop: int) -> float:
        return float(np.vdot(flat[start:stop], flat[start:stop]))

    with np.errstate(all="ignore"):
        if len(flat) <= FEW:
            square = part(0, len(flat)) / len(flat)
        else:
            threads = blas_threads()
            with one_blas_thread():
                square = sum_blocks(part, len(flat), MANY, threads) / len(flat)
    if watch is not None:
        watch.last[:] = [*watch.last[-1:], (values, square)]
    return square


def note_range(name: str, values: Any) -> None:
    """Record extreme numbers in the data of the running fit; until it ends, overflow is an error."""
    watch, rows = _watch.get(), values
    values = values.data if is_sparse(values) else values
    if watch is None or not isinstance(values, np.ndarray) or values.dtype.kind != "f" or not values.size:
        return
    most = largest_of_many(rows)
    if most is not None and SMALLEST * values.size <= most * most <= LARGEST:  # then the mean square is in the range
        return
    if SMALLEST <= mean_square(values) <= LARGEST:
        return
    with np.errstate(all="ignore"):
        top = float(max(values.max(), -values.min()))
    if top > 0.0:
        watch.found.append(f"{name} reaches {top:.1e}")
        np.seterr(over="raise", invalid="raise", divide="raise")


def watched(fit: Callable[..., Any], model: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run ``fit(model, ...)``; if the data are extreme, verify the result or raise ``InvalidData``."""
    outer = _watch.get()
    if outer is not None and outer.owner is model:  # nested call: the fit of a base class
        return fit(model, *args, **kwargs)
    watch = Watch(model, [], [])
    token = _watch.set(watch)
    try:
        with np.errstate(), as_interrupts():  # the error state is restored after the fit
            fitted = fit(model, *args, **kwargs)
            if watch.found and fit.__name__ == "fit":
                _require_proof(model, inspect.signature(fit).bind(model, *args, **kwargs).arguments)
            return fitted
    except (InvalidData, InvalidParameter):
        raise
    except MemoryError as error:
        why = str(error).rstrip(".") or "memory is exhausted"
        raise InvalidData(f"{type(model).__name__}: {why}; fit fewer rows, columns or classes.") from None
    except FAILURES as error:
        if not watch.found and type(error) is ValueError:  # raised by another library about data that it cannot use
            raise explained(model, None, None, error) from error
        if not watch.found:
            raise
        raise InvalidData(
            f"{type(model).__name__}: {' and '.join(dict.fromkeys(watch.found))}, so squares overflow or underflow in double precision "
            "and the fit cannot be certified; divide these numbers by their largest absolute value and fit again."
        ) from None
    finally:
        _watch.reset(token)


def _require_proof(model: Any, given: dict[str, Any]) -> None:
    """Raise an error unless the certificate of ``model`` verifies and all its outputs for the training rows are finite."""
    X, data = next(iter(given.values())), {name: given[name] for name in ("y", "sample_weight") if name in given}
    X = given.get("X", X)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        for name in ANSWERS:
            if hasattr(model, name):
                answer = getattr(model, name)(X)
                answer = np.asarray(answer.data if is_sparse(answer) else answer)
                if answer.dtype.kind == "f" and not np.isfinite(answer).all():
                    raise FloatingPointError(name)
        certificate = model.certificate_
        if certificate.claims[0].name == UNPROVED:  # the most important claim comes first
            raise FloatingPointError(UNPROVED)
        certificate.verify(X, **data)
