"""The command: ``python -m benchmarks [name ...]``."""

import argparse
import json
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import page, results, table
from benchmarks.ranking import rank
from benchmarks.runner import Options, Row, run_workload
from benchmarks.workload import OURS, Workload, discover, select


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print and save; 2 if the command line makes no sense, 130 if interrupted (what ran is saved)."""
    asked = parser().parse_args(arguments)
    try:
        if asked.write_docs:
            page.write(asked.write_docs)
            return 0
        chosen = select(discover(), asked.names)
        earlier = json.loads(asked.settings_of.read_text()) if asked.settings_of else None
        options = Options(
            threads=asked.threads,
            repeats=asked.repeats,
            quick=asked.quick,
            timeout=asked.timeout,
            all_variants=asked.all_variants,
            peers=_peers(asked.peers, chosen),
            slowest=asked.slowest,
            settings_of=earlier and earlier["created"],
        )
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    if asked.list:
        for workload in chosen:
            print(f"{workload.name:18} {workload.title:52} {', '.join(workload.solvers)}")
        return 0
    return _run(chosen, options, asked.json, earlier)


def parser() -> argparse.ArgumentParser:
    """The options of the command."""
    made = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    made.add_argument(
        "names", nargs="*", metavar="name", help="workloads, by the beginning of their names; default all"
    )
    made.add_argument("--list", action="store_true", help="name the workloads and their solvers, and stop")
    made.add_argument("--peers", metavar="a,b", help=f"run {OURS} and these peers only; '' for {OURS} alone")
    made.add_argument("--repeats", type=_count, default=Options.repeats, help="timed runs a solver (%(default)s)")
    made.add_argument(
        "--threads", type=int, choices=(1, 2), default=Options.threads, help="cores for each (%(default)s)"
    )
    made.add_argument("--timeout", type=float, default=Options.timeout, help="seconds a process may take (%(default)g)")
    made.add_argument(
        "--slowest",
        type=float,
        default=Options.slowest,
        metavar="N",
        help="stop a peer whose run takes N times as long as that of the fastest peer so far (%(default)g)",
    )
    made.add_argument(
        "--settings-of",
        type=Path,
        metavar="RESULT.json",
        help="run only the settings that counted there, for example with two threads those of one",
    )
    made.add_argument(
        "--quick", action="store_true", help="small sizes and the tightest setting only, to try the harness"
    )
    made.add_argument("--all-variants", action="store_true", help="run every tolerance, also past those that pass")
    made.add_argument(
        "--json", type=Path, metavar="PATH", help="where to save; default benchmarks/results/<stamp>.json"
    )
    made.add_argument(
        "--write-docs",
        type=Path,
        nargs="+",
        metavar="RESULT.json",
        help="fill docs/benchmarks.md from saved results, one thread first, and draw their ratios",
    )
    return made


def _run(chosen: Sequence[Workload], options: Options, path: Path | None, earlier: dict[str, Any] | None = None) -> int:
    machine = results.environment()
    before = {entry["name"]: entry for entry in earlier["workloads"]} if earlier else {}
    result = results.compose(machine, options, [])
    path = path or results.default_path(result)
    interrupted = False
    try:
        for workload in chosen:
            tell = partial(_tell, workload.name)
            rows = run_workload(workload, options, tell, before.get(workload.name))
            result["workloads"].append(rank(workload, rows))
            results.write(result, path)  # a run takes hours; what is done survives its end
    except KeyboardInterrupt:
        interrupted = True
    table.show(result)
    for remark in results.remarks(result):
        print(remark)
    print(f"Saved to {results.write(result, path)}")
    return 130 if interrupted else 0


def _tell(name: str, row: Row) -> None:
    told = table.seconds(row["seconds"]) if row["status"] == "ok" else f"{row['status']} ({row['detail']})"
    gap = "" if row["gap"] is None else f", gap {row['gap']:.1e}"
    print(f"{name}  {row['solver']} {row['variant']}: {told}{gap}", file=sys.stderr, flush=True)


def _peers(listed: str | None, chosen: Sequence[Workload]) -> tuple[str, ...] | None:
    if listed is None:
        return None
    known = sorted({name for workload in chosen for name in workload.solvers} - {OURS})
    peers, words = [], [word.strip() for word in listed.split(",") if word.strip()]
    while words:  # a name may contain commas
        longest = next((k for k in range(len(words), 0, -1) if ", ".join(words[:k]) in known), None)
        if longest is None:
            raise ValueError(f"benchmarks: --peers must be among {', '.join(known)}; got {words[0]}.")
        peers.append(", ".join(words[:longest]))
        del words[:longest]
    return tuple(peers)


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1; got {number}")
    return number


if __name__ == "__main__":
    sys.exit(main())
