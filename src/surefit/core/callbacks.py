"""scikit-learn callbacks (1.9 and later) for iterative estimators; the current gap is passed as metadata."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import SurefitError

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9 has no callbacks; everything else works

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement that reports that callbacks are not available."""

        def set_callbacks(self, *callbacks: Any) -> None:
            """Raise an error: callbacks need scikit-learn 1.9."""
            raise SurefitError(
                "set_callbacks needs scikit-learn >= 1.9; upgrade scikit-learn or fit without callbacks."
            )

    def with_callbacks(method: Any) -> Any:
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "progress_reporter", "with_callbacks"]


def progress_reporter(
    estimator: Any, X: Any, y: Any, *, task: str = "pass", max_subtasks: int | None = None, prints: bool = True
) -> Any:
    """Return ``report(n_iter, gap) -> stop`` that runs the callbacks of ``estimator`` and prints if it is verbose; else None.

    Each report is one subtask of the fit; its ``metadata`` holds ``n_iter`` and ``gap``. With ``prints=False`` the fit prints by itself.
    """
    told = prints and bool(getattr(estimator, "verbose", False))
    if not getattr(estimator, "_skl_callbacks", None):
        return _printing(estimator, task) if told else None
    tell = _printing(estimator, task) if told else None
    root = estimator._init_callback_context(max_subtasks=max_subtasks)
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def report(n_iter: int, gap: float) -> bool:
        step = root.subcontext(task_name=task).call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        metadata = {"n_iter": n_iter, "gap": gap}
        if tell is not None:
            tell(n_iter, gap)
        return step.call_on_fit_task_end(estimator=estimator, X=X, y=y, metadata=metadata)

    report.finish = lambda: root.call_on_fit_task_end(estimator=estimator, X=X, y=y)  # type: ignore[attr-defined]
    return report


def _printing(estimator: Any, task: str) -> Any:
    """Return a reporter that prints one line per check."""

    def report(n_iter: int, gap: float) -> bool:
        known = "" if gap is None or gap != gap else f", gap {gap:.3g}"
        print(f"{type(estimator).__name__}: {task} {n_iter}{known}")
        return False

    report.finish = lambda: None  # type: ignore[attr-defined]
    return report
