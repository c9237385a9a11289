"""scikit-learn callbacks (1.9 and later) for iterative estimators; they receive the current gap and, at the end, the fitted model."""

from __future__ import annotations

from functools import wraps
from typing import Any

from surefit.core.errors import SurefitError

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _managed
except ImportError:  # scikit-learn < 1.9 has no callbacks; everything else works

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Replacement for scikit-learn < 1.9: setting callbacks raises an error."""

        def set_callbacks(self, *callbacks: Any) -> None:
            """Raise an error: callbacks need scikit-learn 1.9."""
            raise SurefitError(
                "set_callbacks needs scikit-learn >= 1.9; upgrade scikit-learn or fit without callbacks."
            )

    def _managed(method: Any) -> Any:
        return method


__all__ = ["CallbackSupportMixin", "progress_reporter", "with_callbacks"]

#: Functions to call at the end of each running fit, by the identity of the estimator.
_UNDER_WAY: dict[int, list[Any]] = {}


def with_callbacks(method: Any) -> Any:
    """Wrap the fit ``method`` so that it runs the callbacks of its estimator; they receive the fitted model after the fit."""

    @_managed  # type: ignore[untyped-decorator]
    @wraps(method)
    def fit(estimator: Any, *args: Any, **kwargs: Any) -> Any:
        if not getattr(estimator, "_skl_callbacks", None) or id(estimator) in _UNDER_WAY:
            return method(estimator, *args, **kwargs)
        ends: list[Any] = []
        _UNDER_WAY[id(estimator)] = ends
        try:
            fitted = method(estimator, *args, **kwargs)
        finally:
            del _UNDER_WAY[id(estimator)]
        given = {**dict(zip(("X", "y"), args, strict=False)), **kwargs}
        for end in ends:
            end(given.get("X"), given.get("y"))
        return fitted

    return fit


def progress_reporter(
    estimator: Any, X: Any, y: Any, *, task: str = "pass", max_subtasks: int | None = None, prints: bool = True
) -> Any:
    """Return ``report(n_iter, gap) -> stop`` that runs the callbacks of ``estimator`` and prints if it is verbose; None if it does neither.

    Each report is one subtask of the fit; its ``metadata`` contains ``n_iter`` and ``gap``. With ``prints=False``, the
    reporter does not print. The task of the whole fit ends when ``fit`` returns, with the fitted model and the data
    that the user passed.
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

    def end(X: Any, y: Any) -> None:
        root.call_on_fit_task_end(estimator=estimator, X=X, y=y, reconstruction_attributes={})

    ends = _UNDER_WAY.get(id(estimator))
    report.finish = lambda: end(X, y) if ends is None else ends.append(end)  # type: ignore[attr-defined]
    return report


def _printing(estimator: Any, task: str) -> Any:
    """Return a reporter that prints one line per check."""

    def report(n_iter: int, gap: float) -> bool:
        known = "" if gap is None or gap != gap else f", gap {gap:.3g}"
        print(f"{type(estimator).__name__}: {task} {n_iter}{known}")
        return False

    report.finish = lambda: None  # type: ignore[attr-defined]
    return report
