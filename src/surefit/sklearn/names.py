"""List of scikit-learn's estimators that surefit replaces."""

from __future__ import annotations

from typing import NamedTuple

from surefit.core.tables import text_table
from surefit.sklearn.mirror import replacement


class Report(NamedTuple):
    """Estimators of scikit-learn as (module, name): those that surefit replaces, and those that it does not."""

    replaced: tuple[tuple[str, str], ...]
    kept: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        title = (
            f"surefit.sklearn: {len(self.replaced)} estimators are surefit's, {len(self.kept)} are scikit-learn's own"
        )
        modules = sorted({module for module, _ in (*self.replaced, *self.kept)})
        rows: list[tuple[str, ...]] = []
        for owner, names in (("surefit", self.replaced), ("scikit-learn", self.kept)):
            for module in modules:
                found = [name for where, name in names if where == module]
                if found:
                    rows.append((owner, module.removeprefix("sklearn."), ", ".join(found)))
        return text_table(title, ("from", "module", "estimators"), rows)


def report() -> Report:
    """Return which estimators under ``surefit.sklearn`` are surefit's and which are scikit-learn's own.

    Examples
    --------
    >>> from surefit.sklearn import report
    >>> found = report()
    >>> ("sklearn.linear_model", "Lasso") in found.replaced, ("sklearn.linear_model", "Lars") in found.kept
    (True, True)
    """
    from sklearn.utils.discovery import all_estimators

    replaced: list[tuple[str, str]] = []
    kept: list[tuple[str, str]] = []
    for name, kind in all_estimators():
        module = kind.__module__.partition("._")[0]  # estimators are defined in private files of their public module
        (kept if replacement(kind, module, name) is kind else replaced).append((module, name))
    return Report(tuple(sorted(replaced)), tuple(sorted(kept)))
