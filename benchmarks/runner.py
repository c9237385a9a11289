"""Start every solver in a process of its own, and turn whatever happens there into a row."""

import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from benchmarks.workload import OURS, Gate, Solver, Workload, label

ROOT = Path(__file__).resolve().parent.parent
THREAD_VARIABLES = ("OMP", "OPENBLAS", "MKL", "BLIS", "NUMEXPR", "NUMBA", "VECLIB_MAXIMUM", "GOTO")
PASSING_VARIANTS = 2  # of surefit's tolerances
ENDED = ("timed out", "too slow")
SHORTEST_LIMIT = 1.0  # seconds: the first run of a process touches new memory

Row = dict[str, Any]


@dataclass(frozen=True)
class Options:
    """How to run; written to the result file."""

    threads: int = 1
    repeats: int = 5
    quick: bool = False
    timeout: float = 300.0  # seconds a process may live
    budget: float = 15.0  # seconds of timed runs after which no further repeat starts
    all_variants: bool = False
    peers: tuple[str, ...] | None = None  # None is every peer
    slowest: float = 5.0  # a peer whose run takes this many times as long as that of the fastest peer so far is stopped
    settings_of: str | None = None  # date of the result whose counted settings ran; None is all settings

    def as_dict(self) -> dict[str, Any]:
        """The options as JSON has them."""
        return asdict(self) | {"peers": None if self.peers is None else list(self.peers)}


def run_workload(
    workload: Workload, options: Options, report: Callable[[Row], None] = lambda row: None, earlier: Row | None = None
) -> list[Row]:
    """All rows of a workload: surefit first, then each peer that was asked for.

    With ``earlier``, the entry of the workload in a result, only the settings that counted there run, and references.
    """
    rows: list[Row] = []
    for solver in workload.solvers.values():
        if options.peers is None or solver.name == OURS or solver.name in options.peers:
            best = min((row["objective"] for row in rows if row["objective"] is not None), default=None)
            limit = _limit(workload, rows, options, best)
            for row in run_solver(workload, _as_in(earlier, solver), options, best, limit):
                report(row)
                rows.append(row)
    return rows


def _as_in(earlier: Row | None, solver: Solver) -> Solver:
    """Return the solver with the variants that counted in an earlier result; surefit and references lose none if none counted."""
    if earlier is None:
        return solver
    counted = {row["variant"] for row in earlier["rows"] if row["solver"] == solver.name and row["counted"]}
    if not counted and (solver.name == OURS or not solver.ranked):
        return solver
    return replace(solver, variants=tuple(variant for variant in solver.variants if label(variant) in counted))


def _limit(workload: Workload, rows: Sequence[Row], options: Options, best: float | None) -> float | None:
    """Seconds that a run of the next peer may take, by the fastest peer so far; None is no limit."""
    if workload.tasks:
        return None
    good = [row for row in rows if row["solver"] != OURS and row["ranked"] and _passes_alone(workload.gate, row, best)]
    fastest = min((row["seconds"] for row in good), default=None)
    return None if fastest is None else max(options.slowest * fastest, SHORTEST_LIMIT)


def run_solver(
    workload: Workload, solver: Solver, options: Options, best: float | None = None, limit: float | None = None
) -> Iterator[Row]:
    """Run the variants of a solver: all of them, or of a peer's tolerances those that find the loosest that passes the gate.

    A gate on the distance to the best objective is judged by ``best``, the best objective of the solvers before; surefit
    runs first, and half the distance is demanded, since a later solver may be better. ``--quick`` runs the tightest alone.
    A run may take ``limit`` seconds.
    """
    judged = workload.gate is not None and (workload.gate.on == "gap" or best is not None)
    if solver.name != OURS and solver.ladder and judged and not (options.quick or options.all_variants):
        yield from _loosest_that_passes(workload, solver, options, best, limit)
        return
    passed = 0
    first = len(solver.variants) - 1 if options.quick and not options.all_variants and not workload.tasks else 0
    for variant in solver.variants[max(first, 0) :]:
        row = run_variant(workload, solver, variant, options, limit)
        yield row
        passed += solver.ladder and _passes_alone(workload.gate, row, best)
        slow = (
            row["status"] in ENDED and workload.gate is not None and not workload.tasks
        )  # a tighter variant is no better off
        hopeless = slow or row["status"] == "not installed"
        if hopeless or (passed == PASSING_VARIANTS and not options.all_variants):
            return


def _loosest_that_passes(
    workload: Workload, solver: Solver, options: Options, best: float | None, limit: float | None
) -> Iterator[Row]:
    """Bisect the tolerances, then run the next tighter one too: it shows that the first was not slow by accident."""
    runs: dict[int, bool] = {}  # whether a variant passes
    loose, tight = -1, len(solver.variants)  # the first misses the gate; the second passes, or takes too long
    while tight - loose > 1:
        index = (loose + tight) // 2
        row = run_variant(workload, solver, solver.variants[index], options, limit)
        yield row
        if row["status"] == "not installed":
            return
        runs[index] = _passes_alone(workload.gate, row, best)
        if runs[index] or row["status"] in ENDED:
            tight = index
        else:
            loose = index
    if runs.get(tight) and tight + 1 < len(solver.variants) and tight + 1 not in runs:
        yield run_variant(workload, solver, solver.variants[tight + 1], options, limit)


def run_variant(
    workload: Workload, solver: Solver, variant: dict[str, Any], options: Options, limit: float | None = None
) -> Row:
    """One row, from one fresh process."""
    config = {
        "module": workload.module,
        "solver": solver.name,
        "variant": label(variant),
        "size": "quick" if options.quick else "full",
        "threads": options.threads,
        "repeats": options.repeats,
        "budget": options.budget,
        "limit": limit,
    }
    with tempfile.TemporaryDirectory() as folder:
        outcome = _in_fresh_process(config, Path(folder) / "result.json", options)
    row = {"solver": solver.name, "variant": label(variant), "ranked": solver.ranked}
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
    if config["limit"] and process.returncode == -signal.SIGALRM:
        with suppress(ProcessLookupError):  # what the solver itself started
            os.killpg(process.pid, signal.SIGKILL)
        return {"status": "too slow", "detail": f"a run takes more than {config['limit']:.3g} s"}
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


def _passes_alone(gate: Gate | None, row: Row, best: float | None) -> bool:
    """Whether a row passes the gate whatever solvers follow; for a gate on the distance, as far as ``best`` can tell."""
    if gate is None or row["status"] != "ok" or (gate.on == "distance" and (best is None or row["objective"] is None)):
        return False
    if gate.on == "gap":
        return gate.accepts(row)
    return row["objective"] - best <= 0.5 * gate.limit * (abs(best) or 1.0)
