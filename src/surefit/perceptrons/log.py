"""Log of mistakes, stored in parts and assembled on access."""

from __future__ import annotations

from typing import Any

import numpy as np


class MistakeLogMixin:
    """Mixin that assembles ``mistake_log_`` from its stored parts."""

    _log: list[dict[str, Any]]

    @property
    def mistake_log_(self) -> dict[str, np.ndarray]:
        """One entry per mistake: problem, pass, row, margin before the update and squared norm after it."""
        if "_log" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no mistake log yet; call fit first.")
        columns: dict[str, list] = {"problem": [], "pass": [], "row": [], "margin": [], "squared_norm": []}
        for part in self._log:
            k = len(part["row"])
            columns["problem"].append(np.full(k, part["problem"], dtype=np.int32))
            columns["pass"].append(np.searchsorted(part["after_pass"], np.arange(k), side="right").astype(np.int32))
            columns["row"].append(part["row"].astype(np.int64) + part["first_row"])
            columns["margin"].append(part["margin"])
            columns["squared_norm"].append(_squared_norms(part))
        return {name: np.concatenate(parts) for name, parts in columns.items()}


def _squared_norms(part: dict[str, Any]) -> np.ndarray:
    """Return ``|w_j|^2 = |w_{j-1}|^2 + 2 a m + a^2 |x|^2``; a joint update changes the weights of two classes."""
    lengths = part["squares"][part["row"]] + part["bias_step"]
    growth = part["steps"] * (2.0 * part["margin"] + part["lengthened"] * part["steps"] * lengths)
    return part["start_square"] + np.cumsum(growth)


def log_parts(walks, first_row: int = 0) -> list[dict[str, Any]]:
    """Return the logs of finished runs, one per two-class problem; row numbers start at ``first_row``."""
    return [
        {
            "problem": p,
            "first_row": first_row,
            "after_pass": np.array(one.after_pass),
            "row": one.log.row[: one.logged],
            "margin": one.log.margin[: one.logged],
            "steps": one.rule.step_plus if one.same_steps else one.steps_taken(),
            "squares": one.squares,
            "bias_step": one.rule.bias_step,
            "start_square": one.start_square,
            "lengthened": one.lengthened,
        }
        for p, one in enumerate(walks)
    ]
