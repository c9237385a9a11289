r"""Checks of naive Bayes: parameters are compared with sums over each class (theory: ``naive-bayes-likelihood``).

Sums of non-negative terms have a relative error of at most :math:`\gamma_n`, so the exact parameters are known up to a
small radius. The distance of the stored parameters from them bounds the loss of likelihood.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from surefit.checks.discriminants.class_counts import discrete_distances
from surefit.checks.discriminants.class_variances import gaussian_distances
from surefit.checks.enclosure import gamma
from surefit.checks.judge import Proof, claim, refused
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data

#: Multiple of the rounding errors that covers the result of another evaluation.
ELSEWHERE = 3.0
AS_ROUNDED = 8.0  # multiple of the rounding error within which a parameter counts as correct


def _earlier(c: Claim) -> str:
    if not c.numbers["earlier"]:
        return "."
    return f", given the recorded statistics of earlier rows of weight {c.numbers['earlier']:g}."


@claim("naive_bayes.likelihood", partitioned=True, kind="optimality", side="upper", infinite=True, theory="naive-bayes-likelihood",
       says=lambda c: f"No parameters of the {c.numbers['classes']} classes have a log-likelihood, smoothed as "
       f"requested, that is larger by more than {c.value:.3g}{_earlier(c)}")  # fmt: skip
def likelihood(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Bound the loss of log-likelihood by the distance of the parameters from the exact ones."""
    if certificate.problem["density"] == "complement":
        return refused("complement naive Bayes maximizes no likelihood")
    return _proof(certificate, claim, data, 1)


@claim("naive_bayes.parameters", partitioned=True, kind="data_fact", side="upper", infinite=True, theory="naive-bayes-likelihood",
       says=lambda c: f"All parameters of the {c.numbers['classes']} classes are those of their rows, up to {c.value:.2g}"
       f"{_earlier(c)}")  # fmt: skip
def parameters(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that no parameter differs from its recomputed value by more than ``value``, in its own units."""
    return _proof(certificate, claim, data, 0)


def _proof(certificate: Certificate, claim: Claim, data: Data, which: int) -> Proof:
    """Return the proof of one of the two distances: 0 for the parameters, 1 for the likelihood."""
    earlier = {name: value for name, value in claim.witness.items() if not name.startswith("model.")}
    distances = _distances(certificate, earlier, data)
    value = float(distances(1.0)[which])
    spread = float(distances(ELSEWHERE)[which]) - value if math.isfinite(value) else 0.0
    limit = None if which else AS_ROUNDED * max(spread, gamma(data.X.shape[0] + 64))
    before = float(math.fsum(earlier["class_count_"])) if earlier else 0.0
    numbers = {"classes": len(certificate.problem["classes"]), "earlier": before}
    return Proof(value, note="sums over the rows of each class.", numbers=numbers, limit=limit, spread=spread,
                 limit_spread=0.1 * (limit or 0.0))  # fmt: skip


def _distances(certificate: Certificate, earlier: dict[str, Any], data: Data) -> Callable[[float], tuple[float, float]]:
    """Return a function that maps a multiple of all radii to both distances; the rows are read once."""
    key = f"naive Bayes {sorted((name, np.asarray(value).tobytes()) for name, value in earlier.items())}"
    if key not in data.memo:
        before = {name: np.asarray(value, dtype=np.float64) for name, value in earlier.items()}
        gaussian = certificate.problem["density"] == "gaussian"
        find = gaussian_distances if gaussian else discrete_distances
        data.memo[key] = cache(find(certificate, before, data))  # both claims need the same multiples
    return data.memo[key]
