"""A progress bar that shows how far the answer still is: passes, seconds and the running gap."""

from __future__ import annotations

from surefit.core.errors import SurefitError


class GapProgress:
    """Callback that draws one line a fit: passes done, time, and the running duality gap.

    Set it with ``model.set_callbacks(GapProgress())`` (scikit-learn 1.9 and later; needs rich).

    Parameters
    ----------
    console : rich.console.Console, optional
        Where to draw; the terminal by default.
    max_propagation_depth : int or None, default=1
        How many levels of nested estimators are shown.

    Examples
    --------
    >>> from surefit import GapProgress, Lasso
    >>> model = Lasso().set_callbacks(GapProgress())
    """

    def __init__(self, console=None, max_propagation_depth: int | None = 1):
        try:
            import rich.progress  # noqa: F401
        except ImportError:
            raise SurefitError("GapProgress needs rich; install it with: pip install 'surefit[cli]'.") from None
        self.console = console
        self.max_propagation_depth = max_propagation_depth
        self._bars: dict = {}

    def setup(self, estimator, context):
        """Open the line."""
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

    def on_fit_task_begin(self, estimator, context):
        """Do nothing; the line moves at the end of a task."""

    def on_fit_task_end(self, estimator, context, *, metadata=None):
        """Move the line."""
        if metadata and context.root_uuid in self._bars:
            bar, task = self._bars[context.root_uuid]
            bar.update(task, advance=1, n_iter=metadata.get("n_iter", 0), gap=metadata.get("gap", float("nan")))
        return False

    def teardown(self, estimator, context):
        """Close the line."""
        bar, task = self._bars.pop(context.root_uuid)
        bar.update(task, total=1, completed=1)
        bar.stop()
