"""Every way a solver can end, in real processes."""

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.benchmarks.fake_workload import workload

from benchmarks import child, runner
from benchmarks.ranking import rank
from benchmarks.runner import Options, run_solver, run_workload, thread_environment
from benchmarks.workload import Gate


def rows_of(name, **options):
    return list(run_solver(workload, workload.solvers[name], Options(repeats=3, timeout=60, **options)))


def only_row(name):
    (row,) = rows_of(name)
    return row


def test_times_objective_and_gap_of_a_solver_that_works():
    row = only_row("surefit")
    assert (row["status"], row["detail"], row["runs"]) == ("ok", None, 30)  # three, and short runs ten times as often
    assert (row["objective"], row["gap"]) == (2.0, 0.0)
    assert 0.002 <= row["fastest"] <= row["seconds"]
    assert row["spread"] >= 0 and row["memory_mb"] >= 0
    assert row["cpu_share"] < 0.9  # it sleeps


def test_the_loosest_setting_that_passes_is_found_by_bisection_and_the_next_runs_too():
    rows = rows_of("ladder")
    assert [row["variant"] for row in rows] == ["tol=5e-04", "tol=1e-01", "tol=1e-02", "tol=1e-04"]
    assert [row["gap"] <= 1e-6 for row in rows] == [True, False, False, True]
    assert [row["runs"] for row in rows] == [30, 1, 1, 30]  # what misses the gate is not repeated


def test_a_ladder_stops_at_half_the_distance_from_the_best_objective_so_far():
    close = replace(workload, gate=Gate("distance", 2e-4, "within 0.02 % of the best"))
    rows = list(run_solver(close, close.solvers["ladder"], Options(repeats=1, timeout=60), best=2.0))
    assert [row["variant"] for row in rows] == [
        "tol=5e-04",
        "tol=1e-01",
        "tol=1e-02",
    ]  # 1e-2: (x - 3)^2 is half of the limit
    assert len(list(run_solver(close, close.solvers["ladder"], Options(repeats=1, timeout=60)))) == 5
    switch = replace(close.solvers["ladder"], variants=({"tol": 0.0, "sort": True},) * 3)
    assert close.solvers["ladder"].ladder and not switch.ladder


def test_all_variants_and_quick():
    assert len(rows_of("ladder", all_variants=True)) == 5
    assert [row["variant"] for row in rows_of("ladder", quick=True)] == ["tol=1e-05"]


def test_a_missing_package_is_one_row():
    row = only_row("absent")
    assert row["status"] == "not installed"
    assert "no_such_package" in row["detail"] and row["seconds"] is None


@pytest.mark.parametrize(
    ("name", "detail"),
    [
        ("broken install", "ModuleNotFoundError: No module named 'no_such_dependency'"),
        ("raises", "ValueError: this solver refuses"),
        ("dies", "the process died of SIGKILL"),
        ("not a number", "ArithmeticError: the answer has objective nan and gap nan"),
        ("exits", "the process ended with code 1: enough"),
    ],
)
def test_a_failure_is_a_row_that_says_why(name, detail):
    row = only_row(name)
    assert (row["status"], row["detail"], row["runs"]) == ("failed", detail, 0)


def test_a_time_out_is_a_row_and_ends_the_variants():
    rows = list(run_solver(workload, workload.solvers["sleeps"], Options(timeout=1.0)))
    assert [(row["status"], row["detail"]) for row in rows] == [("timed out", "no answer within 1 s")]


def test_after_a_time_out_no_tighter_tolerance_is_tried():
    rows = list(run_solver(workload, workload.solvers["slow when tight"], Options(repeats=1, timeout=10)))
    assert [(row["variant"], row["status"]) for row in rows] == [("tol=1e-02", "ok"), ("tol=1e-03", "timed out")]


def test_a_peer_is_stopped_if_a_run_takes_longer_than_the_limit():
    slow, options = workload.solvers["slow when tight"], Options(repeats=1, timeout=60)
    rows = list(run_solver(workload, slow, options, limit=0.5))
    assert [(row["variant"], row["status"]) for row in rows] == [("tol=1e-02", "ok"), ("tol=1e-03", "too slow")]
    assert rows[1]["detail"] == "a run takes more than 0.5 s"


def test_the_limit_is_a_multiple_of_the_fastest_peer_that_passes():
    def row(solver, seconds, gap=0.0, ranked=True):
        return {"solver": solver, "seconds": seconds, "gap": gap, "objective": 2.0, "status": "ok", "ranked": ranked}

    options, ours, wrong = Options(slowest=5.0), row("surefit", 0.1), row("hopeless", 0.2, gap=1.0)
    assert runner._limit(workload, [ours, wrong, row("reference", 0.1, ranked=False)], options, 2.0) is None
    assert runner._limit(workload, [ours, wrong, row("ladder", 3.0), row("raises", 4.0)], options, 2.0) == 15.0
    assert runner._limit(workload, [row("ladder", 1e-3)], options, 2.0) == runner.SHORTEST_LIMIT
    assert runner._limit(replace(workload, tasks=True), [row("ladder", 3.0)], options, 2.0) is None


def test_only_the_settings_that_counted_run_again():
    asked = Options(repeats=3, peers=("ladder", "hopeless", "reference"))
    earlier = rank(workload, run_workload(workload, asked))
    counted = [(row["solver"], row["variant"]) for row in earlier["rows"] if row["counted"]]
    again = run_workload(workload, asked, earlier=earlier)
    assert [(row["solver"], row["variant"]) for row in again] == [*counted, ("reference", "")]
    assert {solver for solver, _ in counted} == {"surefit", "ladder"}


def test_peers_are_chosen_and_surefit_always_runs():
    told = []
    rows = run_workload(workload, Options(repeats=1, peers=("absent", "raises")), told.append)
    assert [row["solver"] for row in rows] == ["surefit", "absent", "raises"]
    assert told == rows
    assert [row["solver"] for row in run_workload(workload, Options(repeats=1, peers=()))] == ["surefit"]


def test_a_measured_ratio_is_the_quotient_of_the_medians():
    entry = rank(workload, run_workload(workload, Options(repeats=3, peers=("ladder", "hopeless", "raises"))))
    ours, peer = (
        next(row for row in entry["rows"] if row["solver"] == name and row["counted"]) for name in ("surefit", "ladder")
    )
    assert entry["fastest_peer"] == "ladder"  # hopeless is faster and misses the gate
    assert entry["ratio"] == peer["seconds"] / ours["seconds"]


def test_every_thread_variable_is_set():
    variables = thread_environment(2)
    assert set(variables.values()) == {"2"}
    assert {"OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"} <= set(variables)
    assert "VECLIB_MAXIMUM_THREADS" in variables


def test_an_interrupt_ends_the_process(monkeypatch):
    started = []

    class Interrupted(runner.subprocess.Popen):
        def communicate(self, timeout=None):
            if timeout is not None:
                started.append(self)
                raise KeyboardInterrupt
            return super().communicate()

    monkeypatch.setattr(runner.subprocess, "Popen", Interrupted)
    with pytest.raises(KeyboardInterrupt):
        only_row("sleeps")
    assert started[0].returncode == -9


def test_peak_memory_counts_what_was_freed_again():
    memory = child.PeakMemory()
    assert np.ones(8_000_000).sum() == 8e6  # 64 MB
    if sys.platform == "linux":
        assert 55 <= memory.megabytes() <= 75
    else:
        assert memory.megabytes() is None


def test_import_errors_do_not_tell_local_paths():
    with pytest.raises(ImportError) as caught:
        exec("from json import nothing_like_it")
    assert child.one_line(caught.value) == "ImportError: cannot import name 'nothing_like_it' from 'json'"
    assert sys.prefix not in child.one_line(caught.value)
