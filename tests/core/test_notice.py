"""The notice that loops are being compiled."""

import logging
import sys
from types import SimpleNamespace

import pytest

from surefit.cli.board import Board
from surefit.core.compilation.notice import LOG, NOTICE, CompilationNotice


def event_of(module):
    function = SimpleNamespace(__module__=module)
    return SimpleNamespace(data={"dispatcher": SimpleNamespace(py_func=function)})


def compiled_twice(notice, module):
    for _ in range(2):
        notice.on_start(event_of(module))
        notice.on_start(event_of(module))  # a function that the first one calls
        notice.on_end(event_of(module))
        notice.on_end(event_of(module))


def test_a_long_compilation_is_said_once(caplog):
    caplog.set_level(logging.INFO, logger="surefit")
    compiled_twice(CompilationNotice(patience=0.0), "surefit.solvers.smo.inner")
    assert [record.getMessage() for record in caplog.records] == [NOTICE]


@pytest.mark.parametrize(("terminal", "level", "said"), [(True, "NOTSET", 1), (True, "ERROR", 0), (False, "NOTSET", 0)])
def test_the_notice_appears_at_a_terminal_unless_logging_is_set_up(monkeypatch, capsys, terminal, level, said):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal, raising=False)
    monkeypatch.setattr(LOG, "level", getattr(logging, level))
    LOG.manager._clear_cache()
    compiled_twice(CompilationNotice(patience=0.0), "surefit.solvers.smo.inner")
    LOG.manager._clear_cache()
    assert capsys.readouterr().err == f"surefit: {NOTICE}\n" * said


def test_short_compilations_and_those_of_others_are_not_said(caplog):
    caplog.set_level(logging.INFO, logger="surefit")
    compiled_twice(CompilationNotice(patience=1e9), "surefit.solvers.smo.inner")
    compiled_twice(CompilationNotice(patience=0.0), "umap.layouts")
    compiled_twice(CompilationNotice(patience=0.0), None)  # the constructor of a jitclass has no module
    assert not caplog.records


def test_the_command_prints_the_notice_and_leaves_the_logger_as_it_was(capsys):
    before = LOG.level, list(LOG.handlers)
    with Board():
        LOG.info(NOTICE)
    with Board(silent=True):
        LOG.info("not printed")
    assert (LOG.level, list(LOG.handlers)) == before
    assert capsys.readouterr().err.strip() == NOTICE
