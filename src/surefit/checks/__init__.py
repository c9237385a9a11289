"""The trusted checker: re-derives every claim from (model, data) alone; it shares no numerics with any solver."""

from surefit.checks import least_squares, neural, penalised_squares
from surefit.checks.base import CHECKERS, Finding, Verification, checker, verify

__all__ = [
    "CHECKERS",
    "Finding",
    "Verification",
    "checker",
    "least_squares",
    "neural",
    "penalised_squares",
    "verify",
]
