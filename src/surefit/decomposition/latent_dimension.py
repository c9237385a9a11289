"""Number of principal components, by the fraction of explained variance or by Minka's estimate."""

from __future__ import annotations

import numpy as np
from scipy.special import gammaln

NEGLIGIBLE = 1e-15


def components_for_share(ratios: np.ndarray, share: float) -> int:
    """Return the smallest number of components that explain more than the fraction ``share`` of the variance."""
    return int(np.searchsorted(np.cumsum(ratios), share, side="right")) + 1


def minka_dimension(variances: np.ndarray, n_rows: int) -> int:
    r"""Return the dimension q with the largest evidence under probabilistic PCA (Minka 2000).

    Let :math:`\lambda_1 \ge \dots \ge \lambda_d` be the variances, let the noise :math:`v` be the mean of those beyond
    q, and let :math:`m = dq - q(q+1)/2`. Up to a constant that does not depend on q, the logarithm of the evidence is

    .. math::

        \ln p(U) - \tfrac n2 \sum_{i \le q} \ln \lambda_i - \tfrac{n (d - q)}2 \ln v + \tfrac{m + q}2 \ln 2\pi
        - \tfrac12 \ln |A_z| - \tfrac q2 \ln n .

    Examples
    --------
    >>> import numpy as np
    >>> from surefit.decomposition.latent_dimension import minka_dimension
    >>> minka_dimension(np.array([10.0, 8.0, 1.3, 1.0, 0.9, 0.8]), n_rows=50)
    2
    """
    d = len(variances)
    evidence = [-np.inf] + [_log_evidence(variances, q, n_rows) for q in range(1, d)]
    return int(np.argmax(evidence))


def _log_evidence(variances: np.ndarray, q: int, n: int) -> float:
    d = len(variances)
    if variances[q - 1] < NEGLIGIBLE:
        return -np.inf
    noise = max(NEGLIGIBLE, float(np.mean(variances[q:])))
    i = np.arange(1, q + 1)
    of_axes = -q * np.log(2.0) + np.sum(gammaln((d - i + 1) / 2) - (d - i + 1) / 2 * np.log(np.pi))
    m = d * q - q * (q + 1) / 2
    smoothed = np.where(np.arange(d) < q, variances, noise)
    rows, columns = np.triu_indices(q, 1, d)
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.log((variances[rows] - variances[columns]) * (1 / smoothed[columns] - 1 / smoothed[rows])) + np.log(
            n
        )
        fit = -n / 2 * np.sum(np.log(variances[:q])) - n * (d - q) / 2 * np.log(noise)
        value = of_axes + fit + (m + q) / 2 * np.log(2 * np.pi) - np.sum(terms) / 2 - q / 2 * np.log(n)
    return float(value)
