r"""Links between units, and links that share a weight.

Two consecutive layers are either fully connected (None) or connected by a *link table*: an integer matrix of shape
(units below, units above). An entry is the index of the free weight of that link, or -1 if there is no link. Equal
indices share a weight. Every unit has its own bias. The free parameters are packed into one vector: the weights layer
by layer, then the biases layer by layer.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefit.core.errors import InvalidParameter


class Architecture(NamedTuple):
    """Sizes of all layers, input first, and one link table (or None) between consecutive layers.

    Examples
    --------
    Twelve hidden units between 256 pixels and ten classes:

    >>> from surefit.solvers.networks.architecture import Architecture
    >>> net = Architecture((256, 12, 10), (None, None))
    >>> net.n_links, net.n_parameters
    (3214, 3214)
    """

    sizes: tuple[int, ...]
    tables: tuple[np.ndarray | None, ...]

    @property
    def n_layers(self) -> int:
        """Number of layers of links."""
        return len(self.tables)

    @property
    def n_links(self) -> int:
        """Number of links, including those from the constant unit (biases)."""
        weights = (
            int(np.prod(self.shape(k))) if table is None else int(np.sum(table >= 0))
            for k, table in enumerate(self.tables)
        )
        return sum(weights) + sum(self.sizes[1:])

    @property
    def n_weights(self) -> int:
        """Number of free weights without biases; a shared weight counts once."""
        return sum(self.weights_of(k) for k in range(self.n_layers))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: weights and biases."""
        return self.n_weights + sum(self.sizes[1:])

    @property
    def n_identifiable(self) -> int:
        """Number of parameters that softmax outputs determine: adding one vector to all classes has no effect.

        Intended for a fully connected last layer, where that vector has one entry per unit below and one for the bias.
        """
        return self.n_parameters - (self.sizes[-2] + 1 if self.tables[-1] is None else 0)

    def shape(self, k: int) -> tuple[int, int]:
        """Shape of the matrix between layers ``k`` and ``k + 1``."""
        return self.sizes[k], self.sizes[k + 1]

    def weights_of(self, k: int) -> int:
        """Number of free weights between layers ``k`` and ``k + 1``."""
        table = self.tables[k]
        return int(np.prod(self.shape(k))) if table is None else int(table.max(initial=-1)) + 1

    def pieces(self) -> tuple[list[slice], list[slice]]:
        """Return the slices of the weights and the biases of each layer in the packed vector."""
        ends = np.cumsum([self.weights_of(k) for k in range(self.n_layers)] + list(self.sizes[1:]))
        parts = [slice(int(a), int(b)) for a, b in zip([0, *ends[:-1]], ends, strict=True)]
        return parts[: self.n_layers], parts[self.n_layers :]

    def pack(self, coefs, intercepts) -> np.ndarray:
        """Pack matrices and biases into the vector of free parameters."""
        parts = []
        for matrix, table in zip(coefs, self.tables, strict=True):
            if table is None:
                parts.append(np.ravel(matrix))
            else:
                free = np.zeros(int(table.max(initial=-1)) + 1, dtype=np.asarray(matrix).dtype)
                free[table[table >= 0]] = np.asarray(matrix)[table >= 0]
                parts.append(free)
        return np.concatenate([*parts, *intercepts])

    def unpack(self, theta: np.ndarray) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Return matrices and biases of a packed vector, as copies."""
        weights, biases = self.pieces()
        coefs = []
        for k, table in enumerate(self.tables):
            free = theta[weights[k]]
            coefs.append(free.reshape(self.shape(k)).copy() if table is None else expand(table, free))
        return coefs, [theta[piece].copy() for piece in biases]


def expand(table: np.ndarray, free: np.ndarray) -> np.ndarray:
    """Return the weight matrix that a link table defines from the free weights."""
    matrix = np.zeros(table.shape, dtype=free.dtype)
    matrix[table >= 0] = free[table[table >= 0]]
    return matrix


def read_table(who: str, given, shape: tuple[int, int], place: int) -> np.ndarray | None:
    """Return a user's mask or link table as a table with indices 0, 1, ... without gaps; None if fully connected."""
    if given is None:
        return None
    table = np.asarray(given)
    if table.shape != shape or table.dtype.kind not in "biu":
        raise InvalidParameter(
            who, f"links[{place}]", f"None, a mask or an integer table of shape {shape}", f"{table.dtype} {table.shape}"
        )
    if table.dtype.kind == "b":
        numbered = np.full(shape, -1, dtype=np.int64)
        numbered[table] = np.arange(int(table.sum()))
        return numbered
    present = table >= 0
    if not present.any():
        raise InvalidParameter(who, f"links[{place}]", "a table with at least one link", "none")
    numbered = np.full(shape, -1, dtype=np.int64)
    numbered[present] = np.unique(table[present], return_inverse=True)[1].ravel()
    return numbered
