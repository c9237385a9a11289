import pytest
from tests.lab.browser import Visitor, chromium, laboratory


@pytest.fixture(scope="session")
def lab():
    with laboratory() as (address, process):
        yield address, process


@pytest.fixture(scope="session")
def browser():
    with chromium() as started:
        yield started


@pytest.fixture
def visit(lab, browser):
    """Open a page; errors of its scripts and requests to other sites fail the test."""
    opened = []

    def visitor(path: str = "/", **options) -> Visitor:
        opened.append(Visitor(browser, lab[0], path, **options))
        return opened[-1]

    yield visitor
    for one in opened:
        one.close()
        assert one.errors == []
        assert one.external == []
