"""Start every solver in a process of its own, and turn whatever happens there into a row."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.workload import OURS, Gate, Solver, Workload, label

ROOT = Path(__file__).resolve().parent.parent
THREAD_VARIABLES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM", "GOTO")
PASSING_VARIANTS = 2  # a second, tighter variant that passes shows that the first was not slow by accident

Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How to run; written to the result file."""

    threads: int = 1
    repeats: int = 5
    quick: bool = False
    timeout: float = 300.0  # seconds a process may live
    budget: float = 60.0  # seconds of timed runs after which no further repeat starts
    all_variants: bool = False
    peers: tuple[str, ...] | None = None  # None is every peer

    def as_dict(self) -> dict[str, Any]:
        """The options as JSON has them."""
        return asdict(self) | {"peers": None if self.peers is None else list(self.peers)}


def run_workload(workload: Workload, options: Options, report: Callable[[Row], None] = lambda row: None) -> list[Row]:
    """All rows of a workload: surefit first, then each peer that was asked for."""
    rows: list[Row] = []
    for solver in workload.solvers.values():
        if options.peers is None or solver.name == OURS or solver.name in options.peers:
            for row in run_solver(workload, solver, options):
                report(row)
                rows.append(row)
    return rows


def run_solver(workload: Workload, solver: Solver, options: Options) -> Iterator[Row]:
    """Try the variants from loose to tight until enough of them pass the gate.

    A tighter tolerance than the first that passes only costs time. A gate on the distance to the best objective is
    known when all solvers have run, and without a gate variants are sizes: there every variant runs. ``--quick`` runs
    the tightest alone.
    """
    passed = 0
    first = len(solver.variants) - 1 if options.quick and not options.all_variants else 0
    for index in range(first, len(solver.variants)):
        row = run_variant(workload, solver, index, options)
        yield row
        passed += row["status"] == "ok" and _passes_alone(workload.gate, row)
        slow = row["status"] == "timed out" and workload.gate is not None  # a tighter variant is no better off
        hopeless = slow or row["status"] == "not installed"
        if hopeless or (passed == PASSING_VARIANTS and not options.all_variants):
            return


def run_variant(workload: Workload, solver: Solver, index: int, options: Options) -> Row:
    """One row, from one fresh process."""
    config = {
        "module": workload.module,
        "solver": solver.name,
        "variant": index,
        "size": "quick" if options.quick else "full",
        "threads": options.threads,
        "repeats": options.repeats,
        "budget": options.budget,
    }
    with tempfile.TemporaryDirectory() as folder:
        outcome = _in_fresh_process(config, Path(folder) / "result.json", options)
    row = {"solver": solver.name, "variant": label(solver.variants[index]), "ranked": solver.ranked}
    return row | _summary(outcome)


def thread_environment(threads: int) -> dict[str, str]:
    """The variables by which numerical packages are told how many threads to use."""
    return {f"{name}_{'' if name.endswith('MAXIMUM') else 'NUM_'}THREADS": str(threads) for name in THREAD_VARIABLES}


def _in_fresh_process(config: Mapping[str, Any], result: Path, options: Options) -> dict[str, Any]:
    command = [sys.executable, "-m", "benchmarks.child", json.dumps(config), str(result)]
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = os.environ | thread_environment(options.threads) | {"PYTHONPATH": path}
    process = subprocess.Popen(
        command,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that a time-out also ends what the solver itself started
    )
    try:
        _, errors = process.communicate(timeout=options.timeout)
    except subprocess.TimeoutExpired:
        _end(process)
        return {"status": "timed out", "detail": f"no answer within {options.timeout:g} s"}
    except BaseException:
        _end(process)
        raise
    if result.exists():
        return json.loads(result.read_text())
    return {"status": "failed", "detail": _death(process.returncode, errors)}


def _end(process: subprocess.Popen) -> None:
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()


def _death(code: int, errors: str) -> str:
    if code < 0:
        return f"the process died of {signal.Signals(-code).name}"
    lines: Sequence[str] = errors.strip().splitlines() or ["no message"]
    return f"the process ended with code {code}: {lines[-1][:300]}"


def _summary(outcome: Mapping[str, Any]) -> Row:
    row: Row = {"status": outcome["status"], "detail": outcome.get("detail"), "runs": 0}
    row |= dict.fromkeys(("seconds", "fastest", "spread", "cpu_share", "objective", "gap", "memory_mb"))
    row |= dict.fromkeys(("certificate_share", "verify_ratio"))
    if outcome["status"] == "ok":
        walls, cpus = outcome["walls"], outcome["cpus"]
        median = statistics.median(walls)
        row |= {key: outcome[key] for key in ("objective", "gap", "memory_mb")}
        row |= {"runs": len(walls), "seconds": median, "fastest": min(walls)}
        row["certificate_share"] = outcome.get("certificate_share")
        row["verify_ratio"] = None if outcome.get("verify") is None else outcome["verify"] / median
        row |= {"spread": (max(walls) - min(walls)) / median, "cpu_share": sum(cpus) / sum(walls)}
    return row


def _passes_alone(gate: Gate | None, row: Row) -> bool:
    return gate is not None and gate.on == "gap" and gate.accepts(row)
