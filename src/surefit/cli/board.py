"""The live leaderboard: a table that is redrawn on a terminal, plain lines elsewhere."""

from __future__ import annotations

import logging
from typing import Any

from rich.console import Console
from rich.live import Live
from rich.table import Table as Grid
from rich.text import Text

from surefit.core.compilation.notice import LOG
from surefit.core.tables import digits, number


class Notices(logging.Handler):
    """Prints log messages of the library, for example about compilation, while a command runs."""

    def __init__(self, console: Console):
        super().__init__(logging.INFO)
        self.console = console
        self._level: int | None = None  # previous state of the logger

    def start(self) -> None:
        """Attach this handler to the library's logger."""
        self._level = LOG.level
        LOG.setLevel(min(LOG.level or logging.INFO, logging.INFO))
        LOG.addHandler(self)

    def stop(self) -> None:
        """Restore the previous state of the logger."""
        if self._level is not None:
            LOG.removeHandler(self)
            LOG.setLevel(self._level)
            self._level = None

    def emit(self, record: logging.LogRecord) -> None:
        """Print one line."""
        self.console.print(Text(record.getMessage()), soft_wrap=True)


class Board:
    """Live display of a comparison on standard error; use it as a context manager."""

    def __init__(self, silent: bool = False):
        self.console = Console(stderr=True, highlight=False)
        self.silent = silent
        self.live: Live | None = None
        self._said: set[str] = set()
        self._notices = Notices(self.console)

    def __enter__(self) -> Board:
        if not self.silent:
            self._notices.start()
        if not self.silent and self.console.is_terminal:
            self.live = Live(console=self.console, refresh_per_second=8, transient=True)
            self.live.start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._notices.stop()
        if self.live is not None:
            self.live.stop()

    def watch(self, entries: list[Any], clock: Any) -> None:
        """Draw the state of the comparison."""
        if self.silent:
            return
        if self.live is not None:
            self.live.update(board_of(entries, clock), refresh=True)
            return
        for entry in entries:
            if entry.state in ("done", "failed", "left out", "stopped") and entry.family.name not in self._said:
                self._said.add(entry.family.name)
                self.console.print(Text(line_of(entry, clock)), soft_wrap=True)


def board_of(entries: list[Any], clock: Any) -> Grid:
    """Return the current leaderboard as a table."""
    left = max(clock.left, 0.0)
    grid = Grid(
        box=None,
        padding=(0, 2, 0, 0),
        header_style="dim",
        pad_edge=False,
        title=f"{left:.0f} s left",
        title_justify="left",
        expand=True,
    )
    for name in ("model", ">score", ">± se", ">fit s", ">gap", "state"):
        grid.add_column(name.lstrip(">"), justify="right" if name.startswith(">") else "left", no_wrap=name != "state")
    for entry in entries:
        best = entry.best
        cells = ("", "", "", "") if best is None else (
            digits(best.score), digits(best.standard_error), number(best.seconds), number(best.gap)
        )  # fmt: skip
        progress = f"{entry.tried}/{entry.planned}" if entry.state == "running" else ""
        style = "bold" if entry.state == "running" else "dim" if entry.state in ("left out", "waiting") else ""
        state = " ".join(part for part in (entry.state if entry.state != "done" else "", progress, entry.note) if part)
        grid.add_row(entry.family.title, *cells, state, style=style)
    return grid


def line_of(entry: Any, clock: Any) -> str:
    """Return one line about a completed family."""
    best = entry.best
    if best is None:
        return f"{entry.family.title}: {entry.state}{f' ({entry.note})' if entry.note else ''}"
    gap = f", gap {number(best.gap)}" if best.gap == best.gap else ""
    return (
        f"{entry.family.title}: {digits(best.score)} ± {digits(best.standard_error)} ({best.candidate.label}; "
        f"{entry.tried} of {entry.planned} settings, {entry.seconds:.1f} s{gap}); {max(clock.left, 0.0):.0f} s left"
    )
