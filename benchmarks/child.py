"""One solver on one workload, alone in this process; the runner starts it and reads the file it leaves.

python -m benchmarks.child '{"module": ..., "solver": ..., "variant": "tol=1e-06", ...}' RESULT.json
"""

import gc
import importlib
import json
import math
import os
import re
import resource
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_limits

from benchmarks.trust import Meter
from benchmarks.workload import OURS, Quality, Solver, Workload, label

SHORT = 0.5  # seconds that timed runs fill at least: the first of them touch new memory
MOST = 10  # but no more than this many times the repeats that were asked for


def main(config: dict[str, Any], result: Path) -> None:
    """Measure, whatever happens; only a crash of the interpreter leaves no file."""
    warnings.simplefilter("ignore")  # peers warn about tolerances; the gate judges the answer instead
    _hold_to_cores(config["threads"])
    workload = importlib.import_module(config["module"]).workload
    solver = workload.solvers[config["solver"]]
    try:
        outcome = measure(workload, solver, config)
    except ImportError as error:
        absent = (error.name or "").partition(".")[0] == solver.package.partition(".")[0]
        outcome = {"status": "not installed" if absent else "failed", "detail": one_line(error)}
    except Exception as error:
        outcome = {"status": "failed", "detail": one_line(error)}
    result.write_text(json.dumps(outcome))


def measure(workload: Workload, solver: Solver, config: dict[str, Any]) -> dict[str, Any]:
    """Warm up on a small sample of the same kind, then time the real one."""
    variant = next(variant for variant in solver.variants if label(variant) == config["variant"])
    meter = Meter() if solver.name == OURS and solver.package == OURS and workload.in_process else None
    solver.run(workload.make(**workload.sizes["warm"]), **variant)  # imports, compiles, proves
    if meter:
        meter.seconds = 0.0
    data = workload.make(**workload.sizes[config["size"]])
    gc.collect()
    memory = PeakMemory()
    walls: list[float] = []
    cpus: list[float] = []
    answers: list[Any] = []
    while _goes_on(walls, config):
        wall, cpu = time.perf_counter(), _cpu_seconds()
        with _ended_after(config["limit"]):
            answer = solver.run(data, **variant)
        walls.append(time.perf_counter() - wall)
        cpus.append(_cpu_seconds() - cpu)
        if len(walls) == 1:
            peak = memory.megabytes() if workload.in_process else None  # before measuring quality allocates
            qualities = [_quality(workload, data, answer)]
            gate = workload.gate
            if gate is not None and gate.on == "gap" and not gate.accepts(qualities[0]._asdict()):
                break  # it will not be ranked: once is enough
        elif len(walls) <= config["repeats"]:  # measuring the quality may take longer than a short run
            answers.append(answer)
    qualities += [_quality(workload, data, answer) for answer in answers]
    return {
        "status": "ok",
        "certificate_share": meter.share(sum(walls)) if meter else None,
        "verify": meter.verification() if meter else None,
        "walls": walls,
        "cpus": cpus,
        "objective": _worst(quality.objective for quality in qualities),
        "gap": _worst(quality.gap for quality in qualities),
        "memory_mb": peak,
    }


@contextmanager
def _ended_after(seconds: float | None) -> Iterator[None]:
    """End this process if the block takes longer: only a signal that nothing handles interrupts compiled code."""
    if seconds is None:
        yield
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _goes_on(walls: Sequence[float], config: dict[str, Any]) -> bool:
    """Whether another run follows: at least ``repeats``, more if they are short, fewer if they are long."""
    spent = sum(walls)
    short = spent < SHORT and len(walls) < MOST * config["repeats"]
    return not walls or ((len(walls) < config["repeats"] or short) and spent + max(walls) <= config["budget"])


class PeakMemory:
    """Megabytes that this process holds at its peak beyond what it holds now; None where the system cannot tell."""

    def __init__(self) -> None:
        try:
            Path("/proc/self/clear_refs").write_text("5")  # forget the peak of generating data
            self.baseline = self._kilobytes("VmRSS")
        except OSError:
            self.baseline = None

    def megabytes(self) -> float | None:
        """The peak since the start, over the baseline."""
        return None if self.baseline is None else max(self._kilobytes("VmHWM") - self.baseline, 0) / 1024

    @staticmethod
    def _kilobytes(entry: str) -> int:
        return int(re.search(rf"^{entry}:\s+(\d+)", Path("/proc/self/status").read_text(), re.MULTILINE)[1])


def one_line(error: BaseException) -> str:
    """Type and message, without the local paths that import errors carry."""
    return re.sub(r"\s*\(\S*[/\\]\S*\)", "", f"{type(error).__name__}: {error}".strip().replace("\n", " "))[:300]


def _hold_to_cores(threads: int) -> None:
    # A package may ignore *_NUM_THREADS; nobody can ignore this. The last cores: the first serve most interrupts.
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[-threads:])


def _cpu_seconds() -> float:
    usages = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _quality(workload: Workload, data: Any, answer: Any) -> Quality:
    """The quality of an answer, by one thread: those of OpenBLAS wait in a loop for 0.1 seconds, and take cores from the next run."""
    with threadpool_limits(1):
        quality = workload.measure(data, answer)
    if any(value is not None and not math.isfinite(value) for value in quality):
        raise ArithmeticError(f"the answer has objective {quality.objective} and gap {quality.gap}")
    return Quality(*(None if value is None else float(value) for value in quality))


def _worst(values) -> float | None:
    return max((value for value in values if value is not None), default=None)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), Path(sys.argv[2]))
