"""The command in a pseudo-terminal: the live leaderboard, and Ctrl-C at any moment."""

import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

import surefit
from surefit.studies.budget import Interrupts


class Terminal:
    """A surefit process whose output goes to a terminal of 24 rows and 120 columns."""

    def __init__(self, *words, folder):
        main, side = pty.openpty()
        environment = {**os.environ, "COLUMNS": "120", "LINES": "24", "TERM": "xterm-256color", "OMP_NUM_THREADS": "1"}
        command = [sys.executable, "-m", "surefit", *words]
        self.process = subprocess.Popen(
            command, stdin=side, stdout=side, stderr=side, cwd=folder, env=environment, start_new_session=True
        )
        os.close(side)
        self.main, self.text = main, ""

    def read_until(self, pattern, seconds=120):
        """Read until a pattern is seen, or the process ends."""
        ends = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < ends, self.text[-2000:]
            if not self._read():
                break
        return self.text

    def _read(self):
        ready, _, _ = select.select([self.main], [], [], 0.2)
        if ready:
            try:
                found = os.read(self.main, 65536)
            except OSError:  # the other side is closed
                return False
            self.text += re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", found.decode(errors="replace"))
            return bool(found)
        return self.process.poll() is None

    def finish(self, seconds=120):
        self.read_until(r"(?!x)x", seconds)
        return self.process.wait(timeout=seconds)


@pytest.fixture
def terminal(tmp_path):
    opened = []

    def open_terminal(*words):
        opened.append(Terminal(*words, folder=tmp_path))
        return opened[-1]

    yield open_terminal
    for each in opened:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()
        os.close(each.main)


def test_live_leaderboard(terminal, tmp_path):
    process = terminal("fit", "iris", "--models", "linear,bayes", "--max-time", "60")
    text = process.read_until(r"\d+ s left[\s\S]*naive Bayes")
    assert re.search(r"model\s+score\s+± se\s+fit s\s+gap\s+state", text)
    assert process.finish() == 0
    assert "Leaderboard" in process.text and "Written: model.surefit" in process.text and "nan" not in process.text
    assert surefit.load(tmp_path / "model.surefit").target_ == "species"


def test_ctrl_c_keeps_the_best_model(terminal, tmp_path):
    process = terminal("fit", "digits", "--max-time", "300")
    process.read_until(r"logistic regression\s+0\.\d+")
    os.killpg(process.process.pid, signal.SIGINT)
    assert process.finish() == 130
    assert "interrupted; the best model so far was kept" in process.text and "Traceback" not in process.text
    assert "not tried: " in " ".join(process.text.split())
    for name in ("model.surefit", "certificate.json", "report.html"):
        assert (tmp_path / name).exists()


@pytest.mark.parametrize("seconds", [0.4, 1.2, 3.0])
def test_ctrl_c_while_packages_load_or_data_are_awaited(terminal, tmp_path, seconds):
    process = terminal("fit", "-", "-t", "y")
    time.sleep(seconds)
    os.killpg(process.process.pid, signal.SIGINT)
    assert process.finish() == 130
    assert process.text.split("surefit: ")[1:] == ["interrupted; no file was left half-written.\r\n"]
    assert "Traceback" not in process.text and not list(tmp_path.iterdir())


def test_ctrl_c_while_a_package_loads_is_heard_after_the_import(tmp_path, monkeypatch):
    """An import that is broken off leaves half a module behind."""
    lines = ["import os, signal", "os.kill(os.getpid(), signal.SIGINT)", "whole = True"]
    (tmp_path / "slow_package.py").write_text("\n".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    interrupts = Interrupts()
    with interrupts.heard(), pytest.raises(KeyboardInterrupt):
        import slow_package

        time.sleep(5)
    assert slow_package.whole and interrupts.pressed == 1


def test_a_shield_notes_the_first_press_and_yields_to_the_second():
    interrupts = Interrupts()
    with interrupts.heard(), interrupts.shielded():
        signal.raise_signal(signal.SIGINT)
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
    assert interrupts.pressed == 2 and signal.getsignal(signal.SIGINT) is signal.default_int_handler
