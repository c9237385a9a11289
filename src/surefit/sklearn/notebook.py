"""``%load_ext surefit``: cells import surefit's estimators instead of scikit-learn's and end with a table of fits."""

from __future__ import annotations

from typing import Any

from surefit.sklearn.importing import install_hook
from surefit.sklearn.mirror import Mirrors
from surefit.sklearn.running import replacing

_ENDS: list[Any] = []


def load(shell: Any) -> None:
    """Activate the extension in a notebook; names imported earlier are not changed."""
    unload(shell)
    fits, rule = replacing()
    end = install_hook(Mirrors(rule))

    def after_cell(result: Any) -> None:
        if fits.rows:
            print(f"\n{fits}")
            fits.rows.clear()

    shell.events.register("post_run_cell", after_cell)
    _ENDS.extend([lambda: shell.events.unregister("post_run_cell", after_cell), end, fits.end])


def unload(shell: Any) -> None:
    """Deactivate the extension."""
    while _ENDS:
        _ENDS.pop()()
