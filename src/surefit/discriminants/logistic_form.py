"""A linear discriminant written as a logistic model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import log_softmax


class LogisticForm(NamedTuple):
    r"""Coefficients of the logistic model equivalent to Gaussian classes with a common covariance.

    .. math:: P(Y = k \mid x) = \frac{e^{x^\top w_k + b_k}}{\sum_l e^{x^\top w_l + b_l}}, \qquad
        w_k = \Sigma^{-1} m_k, \quad b_k = -\tfrac12 m_k^\top \Sigma^{-1} m_k + \ln \pi_k ,

    For two classes, the only row is the difference of the two: :math:`P(Y = 1 \mid x) = 1 / (1 + e^{-x^\top w - b})`.
    """

    coef: np.ndarray  # (1, d) or (k, d)
    intercept: np.ndarray  # (1,) or (k,)

    def probabilities(self, X) -> np.ndarray:
        """Return the probabilities of the classes at the rows of ``X``."""
        scores = np.asarray(X @ self.coef.T, dtype=np.float64) + self.intercept
        if scores.shape[1] == 1:
            scores = np.column_stack([np.zeros(len(scores)), scores])
        return np.exp(log_softmax(scores, axis=1))
