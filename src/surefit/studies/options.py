"""Options of a study, validated before anything is read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from surefit.core.errors import InvalidParameter
from surefit.core.validation import NOTHING, POSITIVE, Rule, one_of
from surefit.studies.families import FAMILIES
from surefit.studies.metrics import METRICS, read_metric
from surefit.tables import Spelling
from surefit.tables.columns import ASKED

SELECT = ("best", "1se", "bound")
MISSING = ("impute", "drop", "refuse")


def _is_share(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < 1


_RULES: dict[str, Rule] = {
    "task": NOTHING | one_of("classification", "regression"),
    "select": one_of(*SELECT),
    "missing": one_of(*MISSING),
    "max_time": POSITIVE,
    "test_size": Rule("a number from 0 up to, but not including, 1", _is_share),
    "confidence": Rule("a number between 0 and 1", lambda v: _is_share(v) and v > 0),
    "seed": Rule("an integer from 0 to 4294967295", lambda v: isinstance(v, int) and 0 <= v < 2**32),
    "decimal": NOTHING | one_of(".", ","),
    "dates": NOTHING | one_of("dmy", "mdy"),
    "metric": Rule("None or one of " + ", ".join(METRICS), lambda v: v is None or read_metric(v) is not None),
    "models": Rule("names from " + ", ".join(FAMILIES), lambda v: all(name in FAMILIES for name in v)),
    "columns": Rule("kinds from " + ", ".join(ASKED), lambda v: all(kind in ASKED for kind in v.values())),
}  # fmt: skip


@dataclass(frozen=True)
class Options:
    """Options of :func:`surefit.study`, which documents them; stored in the model so that its rows can be reconstructed."""

    target: str | None = None
    task: str | None = None
    models: tuple[str, ...] = ()
    max_time: float = 60.0
    metric: str | None = None
    select: str = "best"
    class_weight: str | dict[str, float] | None = None
    test_size: float = 0.2
    group: str | None = None
    time: str | None = None
    weight: str | None = None
    missing: str = "impute"
    columns: dict[str, str] = field(default_factory=dict)
    decimal: str | None = None
    dates: str | None = None
    na: tuple[str, ...] = ()
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self):
        for name, rule in _RULES.items():
            if not rule.allows(getattr(self, name)):
                raise InvalidParameter("study", name, rule.words, getattr(self, name))
        if self.group is not None and self.time is not None:
            raise InvalidParameter("study", "group", "None together with time", self.group)
        if self.select == "bound" and self.time is not None:
            raise InvalidParameter(
                "study", "select", "best or 1se with time: rows in time order allow no bound", "bound"
            )

    @property
    def spelling(self) -> Spelling:
        """Options about the spelling of cells."""
        return Spelling(self.decimal, self.dates, tuple(self.na), dict(self.columns))

    @property
    def roles(self) -> tuple[str, ...]:
        """Columns with a special role, besides the target."""
        return tuple(name for name in (self.weight, self.group, self.time) if name is not None)

    def record(self) -> dict[str, Any]:
        """Return the options as plain values."""
        return {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(self).items()}

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Options:
        """Return the options from a result of :meth:`record`."""
        given: dict[str, Any] = {name: tuple(v) if isinstance(v, list) else v for name, v in record.items()}
        return cls(**given)
