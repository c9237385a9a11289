"""Losses from 0 to 1 for risk certificates, and the predictions they need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import ARRAY, NON_NEGATIVE, NOTHING, REAL, Rule

NAMES = ("zero_one", "brier", "squared", "absolute", "quantile", "miss")
LOSS = Rule(
    "None, a function of (y, prediction), or one of " + ", ".join(map(repr, NAMES)),
    lambda v: callable(v) or v is None or (isinstance(v, str) and v in NAMES),
)
Y_RANGE = NOTHING | Rule(
    "two finite numbers, the smaller first",
    lambda v: ARRAY.allows(v) and len(v) == 2 and all(REAL.allows(end) for end in v) and v[0] < v[1],
)
TOLERANCE = NOTHING | NON_NEGATIVE


class Loss(NamedTuple):
    """Name of a loss, its prediction method, whether it is convex in the prediction, and the range of the target."""

    name: str
    method: str
    convex: bool
    low: float = 0.0
    high: float = 1.0
    function: Callable | None = None
    tolerance: float = 0.0

    @property
    def scale(self) -> float:
        """Largest loss, in the units of the target."""
        width = self.high - self.low
        return width * width if self.name == "squared" else width if self.name == "absolute" else 1.0

    @property
    def words(self) -> str:
        """Name of the mean loss."""
        if self.name == "miss":
            return f"probability of |y - prediction| > {self.tolerance:g}"
        names = {
            "zero_one": "probability of error",
            "brier": "Brier score",
            "squared": "mean squared error",
            "unbounded": "mean squared error",
            "absolute": "mean absolute error",
        }
        return names.get(self.name, "mean loss")

    @property
    def clips(self) -> bool:
        """Whether predictions are first clipped to the declared range."""
        return self.name in ("squared", "absolute")


def read_loss(
    who: str, loss, y_range, *, classifier: bool, has_proba: bool, prefer_convex: bool = False, tolerance=None
) -> Loss:
    """Return the requested loss, or the default loss of the model; raise ``InvalidParameter`` if it does not suit the model."""
    if not LOSS.allows(loss):
        raise InvalidParameter(who, "loss", LOSS.words, loss)
    if not Y_RANGE.allows(y_range):
        raise InvalidParameter(who, "y_range", Y_RANGE.words, y_range)
    if not TOLERANCE.allows(tolerance):
        raise InvalidParameter(who, "tolerance", TOLERANCE.words, tolerance)
    if callable(loss) and tolerance is None:
        return Loss("custom", "predict", False, function=loss)
    if loss is None and classifier:
        loss = "brier" if prefer_convex and has_proba else "zero_one"
    if loss is None:
        loss = "miss" if tolerance is not None else "quantile" if y_range is None else "squared"
    if (loss == "miss") != (tolerance is not None):
        words = (
            "the largest error that is not a miss, with loss='miss'" if loss == "miss" else "None without loss='miss'"
        )
        raise InvalidParameter(who, "tolerance", words, tolerance)
    if classifier != (loss in ("zero_one", "brier")):
        kind = "'zero_one' or 'brier' for a classifier" if classifier else "a loss of a regressor"
        raise InvalidParameter(who, "loss", kind, loss)
    if loss == "brier" and not has_proba:
        raise InvalidParameter(who, "loss", "'zero_one' for a classifier without predict_proba", loss)
    if loss in ("squared", "absolute") and y_range is None:
        raise InvalidParameter(
            who, "y_range", f"the range of the target, declared before the data were seen, for the loss {loss!r}", None
        )
    low, high = (0.0, 1.0) if y_range is None else map(float, y_range)
    convex = loss not in ("zero_one", "quantile", "miss")
    return Loss(
        loss, "predict_proba" if loss == "brier" else "predict", convex, low, high, tolerance=float(tolerance or 0.0)
    )


def respond(model: Any, X: Any, loss: Loss, classes: np.ndarray | None = None) -> np.ndarray:
    """Return the predictions of the model; probabilities are in the order of ``classes`` (zero for unknown classes)."""
    if loss.method == "predict_proba":
        found = _finite(model, np.asarray(model.predict_proba(X), dtype=np.float64))
        return found if classes is None else in_columns(found, model, classes, 0.0)
    answer = model.predict(X) if hasattr(model, "predict") else model(X)
    answer = np.asarray(answer)
    answer = answer.ravel() if answer.ndim == 2 and answer.shape[1] == 1 else answer
    if loss.name in ("zero_one", "custom"):
        return answer
    answer = _finite(model, answer.astype(np.float64))
    return np.clip(answer, loss.low, loss.high) if loss.clips else answer


def _finite(model: Any, answer: np.ndarray) -> np.ndarray:
    if np.all(np.isfinite(answer)):
        return answer
    raise InvalidData(
        f"{type(model).__name__}: the fitted model predicts {answer[~np.isfinite(answer)][0]}, which has no loss; it may "
        "have been fitted on too few rows, or on values that are too large."
    )


def in_columns(found: np.ndarray, model: Any, classes: np.ndarray, absent: float) -> np.ndarray:
    """Return the columns of a model in the order of ``classes``, with ``absent`` for classes it was not fitted on."""
    known = np.asarray(model.classes_)
    if np.array_equal(known, classes):
        return found
    aligned = np.full((len(found), len(classes)), absent)
    aligned[:, np.searchsorted(classes, known)] = found
    return aligned


def losses_of(who: str, loss: Loss, y: np.ndarray, answer: np.ndarray, classes: np.ndarray | None = None) -> np.ndarray:
    """Return the loss of each row, from 0 to 1; for ``quantile`` the absolute error itself."""
    if len(answer) != len(y):
        raise InvalidData(f"{who}: the model must return {len(y)} predictions, one per row; got {len(answer)}.")
    if loss.name == "zero_one":
        return (comparable(answer) != comparable(y)).astype(np.float64)
    if loss.name == "brier":
        assert classes is not None
        truth = comparable(y)[:, None] == comparable(classes)[None, :]
        unknown = 1.0 - truth.any(axis=1)  # a class that the model was not fitted on has probability zero
        return np.minimum(0.5 * (np.sum((answer - truth) ** 2, axis=1) + unknown), 1.0)
    if loss.name == "custom":
        assert loss.function is not None
        return np.asarray(loss.function(y, answer), dtype=np.float64)
    target = np.asarray(y, dtype=np.float64)
    if loss.name == "quantile":
        return np.abs(target - answer)
    if loss.name == "miss":
        return (np.abs(target - answer) > loss.tolerance).astype(np.float64)
    if loss.name == "unbounded":
        return (target - answer) ** 2
    if target.min() < loss.low or target.max() > loss.high:
        raise InvalidData(
            f"{who}: y must lie in y_range ({loss.low:g}, {loss.high:g}); it ranges from {target.min():g} to {target.max():g}. "
            "Declare a range that contains every possible target."
        )
    error = np.abs(target - answer) / (loss.high - loss.low)
    return error * error if loss.name == "squared" else error


def trivial_loss(loss: Loss, y: np.ndarray) -> float:
    """Return the mean loss of the best constant prediction; a bound that is not below it is vacuous."""
    if loss.name in ("zero_one", "brier"):
        shares = np.unique(comparable(y), return_counts=True)[1] / len(y)
        return float(1.0 - shares.max()) if loss.name == "zero_one" else float(0.5 * (1.0 - np.sum(shares**2)))
    if loss.name == "miss":
        ordered = np.sort(np.asarray(y, dtype=np.float64))
        within = np.searchsorted(ordered, ordered + 2 * loss.tolerance, side="right") - np.arange(len(ordered))
        return 1.0 - float(within.max()) / len(ordered)
    if loss.name not in ("squared", "absolute"):
        return 1.0
    target = np.asarray(y, dtype=np.float64) / (loss.high - loss.low)
    if loss.name == "squared":
        return float(np.var(target))
    return float(np.mean(np.abs(target - np.median(target))))


def comparable(labels) -> np.ndarray:
    """Return labels as floats if they are numbers, otherwise as strings; certificates store these two formats."""
    array = np.asarray(labels)
    return array.astype(np.float64) if array.dtype.kind in "biuf" else array.astype(str)
