"""Problem of calibration: the map from scores to probabilities."""

from __future__ import annotations

import math
from typing import Any

from surefit.core.issuing.parameters import plain
from surefit.problems.base import Given, problem_of


@problem_of("CalibratedClassifierCV")
def calibrated(given: Given) -> dict[str, Any]:
    """Return the calibration method and, for temperature scaling, the range of the inverse temperature."""
    found = {"method": given.params["method"], "ensemble": plain(given.params["ensemble"])}
    if given.params["method"] == "temperature":
        found |= {"lowest": math.exp(-10.0), "highest": math.exp(10.0)}
    return found
