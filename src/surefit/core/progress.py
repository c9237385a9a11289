"""Progress bar with the number of passes, the time, and the current duality gap."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import SurefitError


class GapProgress:
    """Callback that draws one line per fit: passes, time, and the current duality gap.

    Set it with ``model.set_callbacks(GapProgress())`` (scikit-learn 1.9 and later; needs rich).

    Parameters
    ----------
    console : rich.console.Console, optional
        Console to draw on; by default the terminal.
    max_propagation_depth : int or None, default=1
        Number of levels of nested estimators to show.

    Examples
    --------
    >>> from surefit import GapProgress, Lasso
    >>> model = Lasso().set_callbacks(GapProgress())
    """

    def __init__(self, console: Any = None, max_propagation_depth: int | None = 1) -> None:
        try:
            import rich.progress  # noqa: F401
        except ImportError:
            raise SurefitError("GapProgress needs rich; install it with: pip install 'surefit[cli]'.") from None
        self.console = console
        self.max_propagation_depth = max_propagation_depth
        self._bars: dict[str, Any] = {}

    def setup(self, estimator: Any, context: Any) -> None:
        """Create the progress bar."""
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("pass {task.fields[n_iter]}"),
            TextColumn("gap {task.fields[gap]:.2e}"),
            TimeElapsedColumn(),
            console=self.console,
        )
        bar.start()
        task = bar.add_task(type(estimator).__name__, total=context.max_subtasks or None, n_iter=0, gap=float("nan"))
        self._bars[context.root_uuid] = (bar, task)

    def on_fit_task_begin(self, estimator: Any, context: Any) -> None:
        """Do nothing; the bar is updated at the end of a task."""

    def on_fit_task_end(self, estimator: Any, context: Any, *, metadata: Any = None) -> Any:
        """Update the progress bar."""
        if metadata and context.root_uuid in self._bars:
            bar, task = self._bars[context.root_uuid]
            bar.update(task, advance=1, n_iter=metadata.get("n_iter", 0), gap=metadata.get("gap", float("nan")))
        return False

    def teardown(self, estimator: Any, context: Any) -> None:
        """Close the progress bar."""
        bar, task = self._bars.pop(context.root_uuid)
        bar.update(task, total=1, completed=1)
        bar.stop()
