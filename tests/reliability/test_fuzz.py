"""The fuzz run itself: a round without end is a fault that does not stop the run, and a run that is stopped records what it tried."""

import json
import os
import signal
import time
from collections import deque
from itertools import count

import pytest
from tests.reliability import isolated
from tests.reliability.isolated import Ended, Isolated

ENDLESS, BLOCKED, CRASH = 1, 2, 3


def work(k: int) -> int:
    """Return the process that answers; the calls named above do not."""
    if k == ENDLESS:
        deque(count(), maxlen=0)  # runs inside one C function, which looks at no signal
    elif k == BLOCKED:
        time.sleep(600)
    elif k == CRASH:
        os.kill(os.getpid(), signal.SIGSEGV)
    return os.getpid()


def stopping_round(seed: int, folder: object, k: int) -> tuple[str, str]:
    """Stand in for a round: the second one does not end, and during the fourth one the run is told to stop."""
    if k == 1:
        work(ENDLESS)
    elif k == 3:
        os.kill(os.getppid(), signal.Signals(seed))
        work(BLOCKED)
    return ("refused", "") if k == 0 else ("fitted", "")


@pytest.fixture
def fuzz():
    """The run, imported here and not above, where the processes of the calls would import it as well."""
    from tests.reliability import fuzz

    return fuzz


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table of results of its own."""
    from tests.reliability import results

    monkeypatch.setattr(results, "FILE", tmp_path / "results.json")
    return results.FILE


def test_a_call_that_does_not_end_is_ended_and_the_next_one_has_a_new_process(monkeypatch):
    with Isolated(work, limit=0.2) as process:
        first = process(0)
        assert process(0) == first
        with pytest.raises(Ended, match=r"more than 0.2 s of CPU time"):
            process(ENDLESS)
        second = process(0)
        assert second not in (first, os.getpid())
        with pytest.raises(Ended, match="SIGSEGV"):
            process(CRASH)
        process(0)
        with monkeypatch.context() as patch, pytest.raises(Ended, match="no answer within 1 s"):
            patch.setattr(isolated, "PATIENCE", 5.0)
            process(BLOCKED)
        assert process(0) not in (first, second)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_run_that_is_stopped_records_its_rounds_hours_and_faults(number, fuzz, table, monkeypatch, capsys):
    monkeypatch.setattr(fuzz, "round_of", stopping_round)
    monkeypatch.setattr(fuzz, "drawn", lambda seed, k: (f"seed {seed}, round {k}: Lasso()",))
    before = signal.getsignal(number)
    assert fuzz.main(["--seed", str(int(number)), "--limit", "0.3"]) == 1
    assert signal.getsignal(number) is before
    found = json.loads(table.read_text())["fuzz"]
    assert (found["tried"], found["wrong"], found["fitted"], found["refused"], found["fault"]) == (3, 1, 1, 1, 1)
    assert found["findings"] == [f"seed {int(number)}, round 1: Lasso(): more than 0.3 s of CPU time"]
    assert found["seed"] == number and 0.0 <= found["hours"] < 1.0 and "hours" in found["what"]
    assert "stopped" in capsys.readouterr().out


def test_rounds_of_a_seed_repeat_and_are_not_recorded(fuzz, table, tmp_path, capsys):
    seed = 20261117
    assert [fuzz.drawn(seed, k)[-1] for k in range(20)] == [fuzz.drawn(seed, k)[-1] for k in range(20)]
    kind, words = fuzz.round_of(seed, tmp_path, 0)
    assert words == fuzz.drawn(seed, 0)[-1] and words.startswith(f"seed {seed}, round 0: ")
    assert fuzz.main(["--seed", str(seed), "--rounds", "1"]) == 0
    assert f"'{kind}': 1" in capsys.readouterr().out
    assert not table.exists()
