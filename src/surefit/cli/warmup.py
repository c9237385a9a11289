"""``surefit warmup``: compile the loops of the estimators ahead of time."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import numpy as np

ROWS, COLUMNS = 48, 4


def warmup(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Estimators to compile for, such as Lasso SVC; all by default.", show_default=False),
    ] = None,
    sparse: Annotated[bool, typer.Option(help="Compile for sparse rows as well.")] = True,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Print nothing but errors.")] = False,
) -> None:
    """Compile the loops of every estimator now, instead of in its first fit.

    Machine code for this processor is stored on disk, beside the package or in the folder NUMBA_CACHE_DIR; later
    processes must be able to write to this folder. Each estimator is fitted on a tiny table, dense and sparse. A second
    run loads the stored code and takes seconds.

    Example:

      surefit warmup
    """
    import time

    from numba import config
    from rich.console import Console

    from surefit.core.errors import CommandError

    classes = _compiled_estimators()
    unknown = sorted(set(names or ()) - set(classes))
    if unknown:
        raise CommandError(f"{unknown[0]} is not an estimator of surefit; choose from {', '.join(classes)}.")
    console = Console(quiet=quiet, highlight=False)
    began, total = time.perf_counter(), 0
    chosen = list(names or classes)
    for i, name in enumerate(chosen):
        started = time.perf_counter()
        with console.status(f"{name} ({i + 1} of {len(chosen)})"):
            count = _compile(classes[name], sparse)
        total += count
        if count:
            console.print(f"{name:<32}{time.perf_counter() - started:6.1f} s")
    spent = time.perf_counter() - began
    done = f"{total} functions compiled" if total else "everything was compiled already"
    if getattr(config, "DISABLE_JIT", 0):
        done = "compilation is switched off by NUMBA_DISABLE_JIT"
    console.print(f"{done}; {len(chosen)} estimators in {spent:.0f} s.")


def _compiled_estimators() -> dict[str, Any]:
    """Return the estimators that fit data themselves; meta-estimators have no compiled loops of their own."""
    import inspect

    from sklearn.base import BaseEstimator

    import surefit

    classes = {name: getattr(surefit, name) for name in surefit.__all__}
    return {
        name: cls
        for name, cls in classes.items()
        if inspect.isclass(cls) and issubclass(cls, BaseEstimator) and not hasattr(cls(), "estimator")
    }


def _compile(cls: Any, sparse: bool) -> int:
    """Fit the estimator on each kind of table it accepts; return the number of compiled functions."""
    from numba.core import event

    count = event.RecordingListener()
    with event.install_listener("numba:compile", count), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # warnings about tiny data are irrelevant here
        for X, y in _tables(cls(), sparse):
            cls().fit(X, y)
    return sum(happened.is_start for _, happened in count.buffer)


def _tables(estimator: Any, sparse: bool) -> Iterator[tuple[Any, np.ndarray | None]]:
    """Yield tiny data of each kind that the estimator's tags allow."""
    import numpy as np
    from scipy.sparse import csr_array

    tags = estimator.__sklearn_tags__()
    rng = np.random.default_rng(0)
    X = rng.random((ROWS, COLUMNS))
    numbers = X @ [1.0, -2.0, 0.5, 0.0] + 0.1 * rng.random(ROWS)
    targets: list[np.ndarray | None] = [np.abs(numbers) if tags.target_tags.positive_only else numbers]
    if not tags.target_tags.single_output:
        targets = [np.column_stack([numbers, X[:, 0]])]
    if tags.estimator_type == "classifier":
        two = (X[:, 0] + 0.3 * rng.random(ROWS) > 0.6).astype(int)
        targets = [two] if not tags.classifier_tags.multi_class else [two, two + (X[:, 1] > 0.7)]
    if not tags.target_tags.required:
        targets.append(None)
    if tags.input_tags.one_d_array and not tags.input_tags.two_d_array:
        X = X[:, 0]
    for y in targets:
        yield X, y
        if sparse and tags.input_tags.sparse:
            yield csr_array(X), y
