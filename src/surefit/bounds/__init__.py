"""Statistical guarantees: concentration, VC, Rademacher, margin, compression, PAC-Bayes, progressive, conformal.

Every function states what it assumes and says "vacuous" when its number says nothing. Names are imported when first used.
"""

from importlib import import_module
from typing import Any

#: File -> public names it defines.
_FILES = {
    "base": ["Deviation", "NoBound", "RiskBound"],
    "binomial": [
        "binomial_tail_inverse",
        "clopper_pearson",
        "clopper_pearson_interval",
        "clopper_pearson_lower",
        "clopper_pearson_size",
        "holdout",
        "holdout_loss",
        "log_binomial_cdf",
        "log_binomial_sf",
    ],
    "kl": ["binary_kl", "kl_inverse", "kl_inverse_lower", "relative_entropy"],
    "tails": [
        "bernstein",
        "chebyshev",
        "empirical_bernstein",
        "gaussian_approximation",
        "hoeffding",
        "markov",
        "sub_gaussian",
    ],
    "progressive": [
        "online_mistakes",
        "pilot_rate",
        "pilot_rate_bernstein",
        "progressive_errors",
        "progressive_losses",
    ],
}
_HOME = {name: file for file, names in _FILES.items() for name in names}

__all__ = sorted(_HOME)


def __getattr__(name: str) -> Any:
    if name in _HOME:
        return getattr(import_module(f"surefit.bounds.{_HOME[name]}"), name)
    raise AttributeError(f"module 'surefit.bounds' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
