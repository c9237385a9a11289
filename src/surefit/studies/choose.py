"""Choice of the winner: the best score, the simplest within one standard error of it, or the smallest bound."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidData
from surefit.studies.compare import Comparison, Result
from surefit.studies.metrics import Metric
from surefit.studies.options import Options


def choose(comparison: Comparison, metric: Metric, options: Options) -> Result:
    """Return the winner; ties go to the simplest candidate."""
    results = [r for r in comparison.results if np.isfinite(r.score)]
    if not results:
        raise InvalidData(
            "No model could be scored on this table; it has too few rows of some class, or columns that do not vary."
        )
    results.sort(key=lambda result: result.rank)
    if options.select == "bound":
        # If the rows are too few for any bound, or if all bounds are vacuous, the best score decides.
        return min(results, key=lambda result: (result.bound, metric.loss(result.score)))
    best = min(results, key=lambda result: metric.loss(result.score))
    if options.select == "best":
        return best
    limit = metric.loss(best.score) + (best.standard_error if np.isfinite(best.standard_error) else 0.0)
    return next(result for result in results if metric.loss(result.score) <= limit)
