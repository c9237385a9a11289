"""scikit-learn's callbacks (1.9 and later) in every iterative estimator; the running gap travels as metadata."""

from __future__ import annotations

from typing import Any

from surefit.core.errors import SurefitError

try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # scikit-learn < 1.9 has no callbacks; everything else works the same

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stand-in that explains why callbacks are not available."""

        def set_callbacks(self, *callbacks):
            """Refuse: callbacks came with scikit-learn 1.9."""
            raise SurefitError(
                "set_callbacks needs scikit-learn >= 1.9; upgrade scikit-learn or fit without callbacks."
            )

    def with_callbacks(method):  # type: ignore[no-redef]
        """Return the method unchanged."""
        return method


__all__ = ["CallbackSupportMixin", "progress_reporter", "with_callbacks"]


def progress_reporter(estimator, X, y, *, task: str = "pass", max_subtasks: int | None = None) -> Any:
    """Return ``report(n_iter, gap) -> stop`` that runs the callbacks of ``estimator``, or None if it has none.

    Each report is one subtask of the fit; its ``metadata`` holds ``n_iter`` and ``gap``.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        return None
    root = estimator._init_callback_context(max_subtasks=max_subtasks)
    root.call_on_fit_task_begin(estimator=estimator, X=X, y=y)

    def report(n_iter: int, gap: float) -> bool:
        step = root.subcontext(task_name=task).call_on_fit_task_begin(estimator=estimator, X=X, y=y)
        metadata = {"n_iter": n_iter, "gap": gap}
        return step.call_on_fit_task_end(estimator=estimator, X=X, y=y, metadata=metadata)

    report.finish = lambda: root.call_on_fit_task_end(estimator=estimator, X=X, y=y)  # type: ignore[attr-defined]
    return report
