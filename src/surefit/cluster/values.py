"""Values that stay with the partitions between passes, such as binned columns and scores, kept by Dask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from surefit.cluster.graphs import applied, shared, tree_of
from surefit.cluster.running import persist_and_compute
from surefit.core.partitioned import PartValues, add, size_of

if TYPE_CHECKING:
    from surefit.cluster.rows import DaskRows


class DaskValues(PartValues):
    """One value per non-empty partition, kept by Dask."""

    def __init__(self, rows: DaskRows, items: list[Any]) -> None:
        self._rows, self.items = rows, items

    def __len__(self) -> int:
        return len(self.items)

    def map_reduce(
        self,
        function: Callable[..., Any],
        *small: Any,
        combine: Callable[[Any, Any], Any] | None = None,
        beside: Sequence[Any] = (),
    ) -> Any:
        """Return the sum over all values; see :class:`PartValues`."""
        return self._rows.reduced(self._applied(function, small, beside), small, combine)

    def derive_and_reduce(
        self,
        function: Callable[..., Any],
        small: tuple[Any, ...],
        report: Callable[..., Any],
        asked: tuple[Any, ...],
        combine: Callable[[Any, Any], Any] | None = None,
        beside: Sequence[Any] = (),
    ) -> tuple[DaskValues, Any]:
        """Compute and keep new values, and return a sum over them; see :class:`PartValues`."""
        rows, items, call = self._rows, self._applied(function, small, beside), shared(report, asked, len(self.items))
        level = [applied(call, *pair) for pair in zip(self.items, items, strict=True)]
        kept, found = persist_and_compute(items, tree_of(level, combine or add), rows.budget)
        rows.traffic.add(size_of(small) + size_of(asked), len(items), size_of(found))
        return DaskValues(rows, kept), found

    def _applied(self, function: Callable[..., Any], small: tuple[Any, ...], beside: Sequence[DaskValues]) -> list[Any]:
        call, columns = shared(function, small, len(self.items)), [self.items, *(values.items for values in beside)]
        return [applied(call, *own) for own in zip(*columns, strict=True)]
