"""Warnings that point at the caller's line."""

import contextlib
import os
import sys
import warnings
from types import FrameType

import joblib
import sklearn

_OWN = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
    os.path.dirname(sklearn.__file__),
    os.path.dirname(joblib.__file__),
    contextlib.__file__,
)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Issue a warning that points to the first line of the call stack outside surefit and scikit-learn."""
    level: int = 1
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(_OWN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level + 1)
