"""Several scores per row under the softmax: loss, derivatives and curvatures over all rows, and the best constants."""

from __future__ import annotations

import numpy as np

CONSTANT_STEPS = 30


class SoftmaxScores:
    """Loss ``sum_i c_i [log sum_k exp(z_ik) - z_i,y_i]``; with ``pinned``, the last score is fixed at zero.

    Parameters
    ----------
    codes : ndarray of int, shape (n_rows,)
        Class of each row. With ``pinned`` class K - 1 is the reference.
    n_classes : int
        Number of classes.
    weights : ndarray of shape (n_rows,)
        Weights ``c``.
    pinned : bool
        Whether the last class has score zero.
    """

    width = 0.0

    def __init__(self, codes: np.ndarray, n_classes: int, weights: np.ndarray, pinned: bool = False):
        self.codes, self.n_classes, self.weights, self.pinned = codes, n_classes, weights, pinned
        self.n_scores = n_classes - int(pinned)
        self._rows = np.arange(len(codes))

    def _full(self, Z: np.ndarray) -> np.ndarray:
        return np.column_stack([Z, np.zeros(len(Z))]) if self.pinned else Z

    def _parts(self, Z: np.ndarray) -> tuple[float, np.ndarray]:
        F = self._full(Z)
        F = F - F.max(axis=1, keepdims=True)
        E = np.exp(F)
        sums = E.sum(axis=1)
        total = float(self.weights @ (np.log(sums) - F[self._rows, self.codes]))
        E /= sums[:, None]
        return total, E

    def evaluate(self, Z: np.ndarray) -> tuple[float, np.ndarray, np.ndarray]:
        """Return the total loss, its derivatives (n, n_scores) and the probabilities (n, n_scores)."""
        total, P = self._parts(Z)
        P = P[:, : self.n_scores]
        derivatives = P * self.weights[:, None]
        inside = self.codes < self.n_scores
        derivatives[self._rows[inside], self.codes[inside]] -= self.weights[inside]
        return total, derivatives, P

    def value(self, Z: np.ndarray) -> float:
        """Return the total loss."""
        return self._parts(Z)[0]

    def young(self, Z: np.ndarray, derivatives: np.ndarray) -> float:
        """Return the sum of the Fenchel-Young terms: weighted relative entropies; infinite outside the simplex."""
        used = self.weights > 0
        Q = np.zeros((len(Z), self.n_classes))
        Q[used, : self.n_scores] = derivatives[used] / self.weights[used, None]
        inside = self.codes < self.n_scores
        Q[self._rows[inside], self.codes[inside]] += 1.0
        if self.pinned:
            Q[:, -1] = 1.0 - Q[:, :-1].sum(axis=1)
        if np.min(Q[used], initial=0.0) < -1e-12:
            return np.inf
        F = self._full(Z)
        F = F - F.max(axis=1, keepdims=True)
        log_p = F - np.log(np.exp(F).sum(axis=1, keepdims=True))
        Q = np.maximum(Q, 0.0)
        terms = np.where(Q > 0, Q * (np.log(np.where(Q > 0, Q, 1.0)) - log_p), 0.0).sum(axis=1)
        return float(self.weights[used] @ np.maximum(terms[used], 0.0))

    def best_shift(self, Z: np.ndarray) -> np.ndarray:
        """Return the constants to add to the scores that minimize the loss (damped Newton)."""
        shift, total = np.zeros(self.n_scores), np.inf
        step, t = np.zeros(self.n_scores), 1.0
        for _ in range(CONSTANT_STEPS):
            value, derivatives, P = self.evaluate(Z + shift + t * step)
            if not np.isfinite(value) or value > total + 1e-14 * abs(total):  # step too long: overflow, or no descent
                t *= 0.5
                continue
            shift, total, t = shift + t * step, value, 1.0
            g = derivatives.sum(axis=0)
            if np.max(np.abs(g)) <= 1e-14 * self.weights.sum():
                break
            H = np.diag(self.weights @ P) - (P * self.weights[:, None]).T @ P
            step = -np.linalg.lstsq(H, g, rcond=1e-13)[0]
        return shift if self.pinned else shift - shift.mean()

    def hessian_block(self, P: np.ndarray, k: int, m: int) -> tuple[float, np.ndarray]:
        """Return sign and weights of the second derivative in scores ``k`` and ``m``."""
        if k == m:
            return 1.0, self.weights * P[:, k] * (1.0 - P[:, k])
        return -1.0, self.weights * P[:, k] * P[:, m]

    def hessian_times(self, P: np.ndarray, V: np.ndarray) -> np.ndarray:
        """Return the second derivative of the loss times ``V``, row by row."""
        PV = P * V
        return self.weights[:, None] * (PV - P * PV.sum(axis=1, keepdims=True))

    def diagonal(self, P: np.ndarray, k: int) -> np.ndarray:
        """Return second derivatives in score ``k``."""
        return self.hessian_block(P, k, k)[1]

    def part(self, step: int) -> SoftmaxScores:
        """Return the loss of every ``step``-th row, with scaled weights."""
        return SoftmaxScores(self.codes[::step], self.n_classes, self.weights[::step] * step, self.pinned)
