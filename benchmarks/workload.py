"""What a workload is: data, an objective, a gate that an answer must pass, and the solvers that try."""

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

OURS = "surefit"


class Quality(NamedTuple):
    """How good an answer is, computed from the answer and the data alone, never from what a solver says of itself."""

    objective: float | None  # always minimized: an error rate, not an accuracy
    gap: float | None = None  # a relative error that needs no other solver, such as a duality gap over P(0)


class Gate(NamedTuple):
    """The accuracy at which times are compared; a solver that misses it is shown but never ranked."""

    on: Literal["gap", "distance"]  # distance = (objective - best objective of the run) / |best|
    limit: float
    meaning: str

    def accepts(self, row: Mapping[str, Any]) -> bool:
        """Whether a measured row is good enough."""
        value = row[self.on]
        return value is not None and value <= self.limit


@dataclass(frozen=True)
class Solver:
    """A package and the one way it is called, at each of several settings from loose to tight."""

    name: str
    package: str  # the module whose absence means "not installed"
    run: Callable[..., Any]
    variants: tuple[dict[str, Any], ...]
    ranked: bool  # False for a floor, such as the bare interpreter

    @property
    def ladder(self) -> bool:
        """Whether the variants are tolerances, so that a tighter one than the first that passes only costs time."""
        return all(key.endswith("tol") for variant in self.variants for key in variant)


def cores() -> int:
    """The number of cores of this process, which the harness limits; peers that ignore ``*_NUM_THREADS`` are told."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def label(variant: Mapping[str, Any]) -> str:
    """The settings of a variant, as printed: ``tol=1e-06``."""
    return ", ".join(
        f"{key}={value:.0e}" if isinstance(value, float) else f"{key}={value}" for key, value in variant.items()
    )


@dataclass
class Workload:
    """One benchmark.

    Parameters
    ----------
    module : str
        ``__name__`` of the defining file: a solver's own process imports the workload by it.
    make : callable
        ``make(**sizes["full"])`` draws the data; the same call with smaller sizes serves ``--quick`` and the warm-up.
    measure : callable
        ``measure(data, answer)`` returns the :class:`Quality` of what a solver returned.
    gate : Gate or None
        ``None`` if there is nothing to be wrong about.
    tasks : bool
        True if the variants are tasks that every solver does, such as fits of several estimators: times are then compared task by task.
    in_process : bool
        False if the work happens in other interpreters, where the peak memory of this one says nothing.
    """

    module: str
    title: str
    recipe: str
    seed: int
    objective: str
    floor: str
    gate: Gate | None
    sizes: Mapping[Literal["full", "quick", "warm"], dict[str, Any]]
    make: Callable[..., Any]
    measure: Callable[[Any, Any], Quality]
    in_process: bool = True
    tasks: bool = False
    solvers: dict[str, Solver] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """The name of the file."""
        return self.module.rpartition(".")[2]

    def solver(
        self, name: str, *, package: str | None = None, variants: Sequence[dict[str, Any]] = ({},), ranked: bool = True
    ) -> Callable[[Callable], Callable]:
        """Register ``run(data, **variant)``; variants go from loose to tight."""

        def add(run: Callable) -> Callable:
            self.solvers[name] = Solver(name, package or name, run, tuple(variants), ranked)
            return run

        return add


def discover(package: str = "benchmarks.workloads") -> list[Workload]:
    """Every workload of a package, in the order of its file names."""
    found = pkgutil.iter_modules(importlib.import_module(package).__path__, package + ".")
    return [importlib.import_module(module.name).workload for module in found]


def select(workloads: Sequence[Workload], names: Sequence[str]) -> list[Workload]:
    """Those whose name starts with one of ``names`` (``c`` is c1, c2, c3); all of them if none is given."""
    unknown = [name for name in names if not any(workload.name.startswith(name) for workload in workloads)]
    if unknown:
        known = ", ".join(workload.name for workload in workloads)
        raise ValueError(f"benchmarks: a name must begin one of {known}; got {', '.join(unknown)}. See --list.")
    return [workload for workload in workloads if not names or any(workload.name.startswith(name) for name in names)]
