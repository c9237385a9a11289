r"""Forward and backward pass over a batch of rows, in preallocated buffers.

.. math::

    J(\vartheta) = \frac{1}{S} \Bigl[ \sum_i s_i \varphi_i(f_i) + \frac{\alpha}{2} \|w\|^2 \Bigr], \qquad S = \sum_i s_i,

where :math:`w` are the free weights without the biases. The sums over rows are returned without the penalty and the
division by :math:`S`, which the caller applies.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from scipy import sparse

from surefit.core.jit import compiled
from surefit.solvers.networks import outputs
from surefit.solvers.networks.activations import Activation
from surefit.solvers.networks.architecture import Architecture
from surefit.solvers.networks.outputs import Output

ROWS = 1024  # rows per block in a pass over the whole sample; fixed, so that sums have a fixed order
NO_WEIGHTS = np.empty(0)


class Network:
    """Parameters of a network in one vector, with the buffers of its passes.

    Parameters
    ----------
    architecture, activation, output
        Definition of the network.
    theta : ndarray of shape (n_parameters,)
        Free parameters; stored and modified in place.
    rows : int
        Largest batch.
    """

    def __init__(
        self, architecture: Architecture, activation: Activation, output: Output, theta: np.ndarray, rows: int
    ):
        self.architecture, self.activation, self.output = architecture, activation, output
        self.theta, self.gradient = theta, np.zeros_like(theta)
        self.n_weights = architecture.n_weights
        weights, biases = architecture.pieces()
        self.coefs, self.gradients, self.shared = [], [], []
        for k, table in enumerate(architecture.tables):
            shape = architecture.shape(k)
            if table is None:
                self.coefs.append(theta[weights[k]].reshape(shape))
                self.gradients.append(self.gradient[weights[k]].reshape(shape))
            else:  # dense matrix that is updated from the free weights, so that products are matrix products
                self.coefs.append(np.zeros(shape, dtype=theta.dtype))
                self.gradients.append(np.zeros(shape, dtype=theta.dtype))
                places = np.flatnonzero(table.ravel() >= 0)
                self.shared.append((k, places, table.ravel()[places], weights[k]))
        self.intercepts = [theta[piece] for piece in biases]
        self.intercept_slopes = [self.gradient[piece] for piece in biases]
        sizes = architecture.sizes[1:]
        self.sums = [np.empty((rows, size), dtype=theta.dtype) for size in sizes]
        self.values = [np.empty((rows, size), dtype=theta.dtype) for size in sizes[:-1]]
        self.deltas = [np.empty((rows, size), dtype=theta.dtype) for size in sizes[:-1]]
        self.follow()

    def follow(self) -> None:
        """Update the weight matrices after a change of ``theta``."""
        for k, places, numbers, piece in self.shared:
            _spread(self.theta[piece], places, numbers, self.coefs[k].ravel())

    def scores(self, X) -> np.ndarray:
        """Return the scores of the last layer, in a buffer that the next pass overwrites."""
        n, below = X.shape[0], X
        for k in range(len(self.coefs)):
            total = self.sums[k][:n]
            if type(below) is np.ndarray:
                np.matmul(below, self.coefs[k], out=total)
            else:  # sparse
                total[...] = below @ self.coefs[k]
            if k < len(self.values):
                below = self.values[k][:n]
                self.activation.after_bias(total, self.intercepts[k], below)
            else:
                total += self.intercepts[k]
        return total

    def sweep(self, X, Y: np.ndarray, weights: np.ndarray = NO_WEIGHTS) -> float:
        """Return ``sum_i s_i phi_i`` and write its gradient to ``gradient``."""
        n = X.shape[0]
        delta = self.scores(X)
        loss = outputs.loss_and_derivative(self.output, delta, Y, weights)
        for k in range(len(self.coefs) - 1, -1, -1):
            below = X if k == 0 else self.values[k - 1][:n]
            if type(below) is np.ndarray:
                np.matmul(below.T, delta, out=self.gradients[k])
            else:
                self.gradients[k][...] = below.T @ delta
            _sum_columns(delta, self.intercept_slopes[k])
            if k > 0:
                back = self.deltas[k - 1][:n]
                np.matmul(delta, self.coefs[k].T, out=back)
                self.activation.multiply_derivative(self.sums[k - 1][:n], below, back)  # type: ignore[misc]
                delta = back
        for k, places, numbers, piece in self.shared:
            _gather(self.gradients[k].ravel(), places, numbers, self.gradient[piece])
        return loss

    def penalty(self) -> float:
        """Return the sum of squares of the free weights."""
        w = self.theta[: self.n_weights]
        return float(np.dot(w, w))


def whole_objective(
    network: Network, X, Y, weights: np.ndarray | None, alpha: float, features: np.ndarray | None = None
) -> tuple[float, np.ndarray]:
    """Return J and its gradient over all rows, by blocks of rows in a fixed order; ``network`` has buffers for ``ROWS`` rows.

    ``features``, if given, receives the inputs of the last layer.
    """
    gradient = np.zeros(len(network.theta))
    losses = []
    for piece in row_pieces(X.shape[0]):
        part = NO_WEIGHTS if weights is None else weights[piece]
        losses.append(network.sweep(as_type(X[piece], network.theta.dtype), Y[piece], part))
        gradient += network.gradient
        if features is not None:
            features[piece] = network.values[-1][: piece.stop - piece.start] if network.values else dense(X[piece])
    total = float(X.shape[0]) if weights is None else math.fsum(weights)
    gradient[: network.n_weights] += alpha * network.theta[: network.n_weights]
    return (math.fsum(losses) + 0.5 * alpha * network.penalty()) / total, gradient / total


def predictions(network: Network, X) -> np.ndarray:
    """Return the predictions of all rows."""
    result = np.empty((X.shape[0], network.architecture.sizes[-1]), dtype=network.theta.dtype)
    for piece in row_pieces(X.shape[0]):
        result[piece] = outputs.predict(network.output, network.scores(as_type(X[piece], network.theta.dtype)))
    return result


def row_pieces(n: int) -> list[slice]:
    """Divide the rows into slices of at most ``ROWS``."""
    return [slice(start, min(start + ROWS, n)) for start in range(0, n, ROWS)]


def dense(X) -> np.ndarray:
    """Return dense or sparse rows as a dense array."""
    return X.toarray() if sparse.issparse(X) else X


def as_type(X, dtype) -> Any:
    """Return the rows in the dtype of the network."""
    return X if X.dtype == dtype else X.astype(dtype)


@compiled
def _sum_columns(delta, out):
    out[:] = 0
    for i in range(delta.shape[0]):
        out += delta[i]


@compiled
def _spread(free, places, numbers, matrix):
    for p in range(len(places)):
        matrix[places[p]] = free[numbers[p]]


@compiled
def _gather(matrix, places, numbers, free):
    for j in range(len(free)):
        free[j] = 0
    for p in range(len(places)):
        free[numbers[p]] += matrix[places[p]]
