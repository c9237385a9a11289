"""Gate, distance, ratio and verdict, by arithmetic on rows made by hand."""

from dataclasses import replace

import pytest
from tests.benchmarks.fake_workload import workload

from benchmarks import table
from benchmarks.comparison import ours_as_accurate, tasks
from benchmarks.ranking import rank
from benchmarks.workload import Gate


def row(solver, seconds, gap, objective=2.0, ranked=True, status="ok", variant=""):
    measured = {
        "seconds": seconds,
        "fastest": seconds,
        "spread": 0.0,
        "cpu_share": 1.0,
        "objective": objective,
        "gap": gap,
    }
    return {
        "solver": solver,
        "variant": variant,
        "ranked": ranked,
        "status": status,
        "detail": None,
        "runs": 1,
    } | measured


def test_the_fastest_peer_that_passes_is_compared():
    entry = rank(
        workload,
        [
            row("surefit", 4.0, 0.0),
            row("surefit", 2.0, 1e-6),  # on the gate is through it
            row("careless", 0.5, 2e-6),
            row("careful", 7.0, 0.0),
            row("careful", 5.0, 1e-9),
            row("slow", 6.0, 0.0),
            row("floor", 0.1, 0.0, ranked=False),
        ],
    )
    assert (entry["fastest_peer"], entry["ratio"], entry["verdict"]) == ("careful", 2.5, "faster")
    assert [r["passes"] for r in entry["rows"]] == [True, True, False, True, True, True, None]
    assert [r["counted"] for r in entry["rows"]] == [False, True, False, False, True, True, False]


def test_time_at_the_accuracy_of_the_fastest_peer():
    rows = [row("surefit", 1.0, 1e-6), row("surefit", 2.0, 1e-8), row("surefit", 3.0, 1e-9), row("peer", 4.0, 1e-8)]
    entry = rank(workload, rows)
    assert entry["ratio"] == 4.0 and ours_as_accurate(entry)["seconds"] == 2.0
    assert ours_as_accurate(rank(workload, [*rows[:1], *rows[3:]])) is None  # no setting that ran is as accurate
    assert ours_as_accurate(rank(workload, rows[:3])) is None  # nobody to compare with


@pytest.mark.parametrize(
    ("peer", "verdict"),
    [(1.5, "faster"), (1.49, "tie"), (1.0, "tie"), (0.67, "tie"), (0.66, "slower"), (0.1, "slower")],
)
def test_under_one_and_a_half_either_way_is_a_tie(peer, verdict):
    entry = rank(workload, [row("surefit", 1.0, 0.0), row("peer", peer, 0.0)])
    assert (entry["ratio"], entry["verdict"]) == (peer, verdict)


def test_distance_is_relative_to_the_best_objective_of_the_run():
    entry = rank(
        workload,
        [row("surefit", 1.0, 0.0, 2.5), row("peer", 1.0, 0.0, 2.0), row("x", None, None, None, status="failed")],
    )
    assert [r["distance"] for r in entry["rows"]] == [0.25, 0.0, None]
    entry = rank(workload, [row("surefit", 1.0, 0.0, 0.5), row("peer", 1.0, 0.0, 0.0)])
    assert [r["distance"] for r in entry["rows"]] == [0.5, 0.0]


def test_a_gate_on_the_distance():
    close = replace(workload, gate=Gate("distance", 0.01, "within 1 % of the best"))
    entry = rank(close, [row("surefit", 2.0, None, 2.01), row("peer", 1.0, None, 2.1), row("best", 3.0, None, 2.0)])
    assert [r["passes"] for r in entry["rows"]] == [True, False, True]
    assert (entry["fastest_peer"], entry["ratio"]) == ("best", 1.5)


def test_without_a_gate_whoever_ran_passes():
    entry = rank(replace(workload, gate=None), [row("surefit", 2.0, None, None), row("peer", 1.0, None, None)])
    assert (entry["gate"], entry["ratio"], entry["verdict"]) == (None, 0.5, "slower")


@pytest.mark.parametrize(
    ("rows", "verdict"),
    [
        ([row("surefit", 1.0, 1.0), row("peer", 1.0, 0.0)], "surefit misses the gate"),
        ([row("surefit", None, None, None, status="not installed"), row("peer", 1.0, 0.0)], "surefit: not installed"),
        ([row("surefit", 1.0, 0.0), row("peer", 1.0, 1.0)], "no peer passes the gate"),
        ([row("peer", 1.0, 0.0)], "surefit takes no part"),
    ],
)
def test_no_ratio_without_two_sides(rows, verdict):
    entry = rank(workload, rows)
    assert (entry["ratio"], entry["verdict"]) == (None, verdict)


def test_tasks_are_compared_one_by_one():
    close = replace(workload, gate=Gate("distance", 0.1, "within 10 % of the best"), tasks=True)
    rows = [
        row("surefit", 1.0, None, 2.0, variant="task=a"),
        row("surefit", 1.0, None, 200.0, variant="task=b"),
        row("surefit", 1.0, None, 2.0, variant="task=c"),
        row("peer", 2.0, None, 2.1, variant="task=a"),
        row("other", 4.0, None, 2.1, variant="task=a"),
        row("peer", 9.0, None, 201.0, variant="task=b"),
        row("other", 8.0, None, 200.0, variant="task=b"),
        row("peer", 0.1, None, 3.0, variant="task=c"),  # misses the gate
    ]
    entry = rank(close, rows)
    found = [(task.ours["variant"], task.peer["solver"], task.ratio) for task in tasks(entry["rows"])]
    assert found == [("task=a", "peer", 2.0), ("task=b", "other", 8.0)]
    assert entry["ratio"] == pytest.approx(4.0) and entry["fastest_peer"] is None and entry["verdict"] == "faster"
    assert "| b | 1 s | other 8 s | 8.00 |  |" in table.by_task(entry)
    assert "geometric mean = 4.00" in table.summary(entry)
    assert [table.outcome(entry, r) for r in entry["rows"][3:]] == [
        "fastest peer", "counted", "counted", "fastest peer", "misses gate",
    ]  # fmt: skip
