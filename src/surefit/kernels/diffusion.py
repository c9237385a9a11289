"""The diffusion kernel of a graph."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import BOUNDS, REAL, Rule
from surefit.kernels.base import Kernel
from surefit.kernels.expansions.eigenpairs import Eigenpairs, check_count

MATRIX = Rule("a square matrix", lambda v: np.ndim(v) == 2 or sparse.issparse(v))


class Diffusion(Kernel):
    r"""Diffusion kernel on the nodes of a graph, :math:`K = \exp(\lambda B) = \sum_p \lambda^p B^p / p!`.

    An element is the index of a node. :math:`B` is the symmetric matrix of similarities (0/1 for a plain graph, or
    minus the graph's Laplacian for the heat kernel).

    Guarantee: positive definite for every real :math:`\lambda`, since the eigenvalues are :math:`e^{\lambda \mu_i} > 0`.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        The matrix :math:`B`, symmetric.
    strength : float, default=1.0
        The factor :math:`\lambda`.
    strength_bounds : pair or "fixed", default="fixed"
        Search range for hyperparameter learning in a Gaussian process, for a strength > 0.

    Examples
    --------
    Two connected nodes have cosh on the diagonal and sinh off the diagonal:

    >>> from surefit.kernels import Diffusion
    >>> Diffusion([[0.0, 1.0], [1.0, 0.0]])([0, 1]).round(4)
    array([[1.5431, 1.1752],
           [1.1752, 1.5431]])
    """

    takes = "nodes"
    _rules = {"adjacency": MATRIX, "strength": REAL, "strength_bounds": BOUNDS}

    def __init__(self, adjacency, strength=1.0, strength_bounds="fixed"):
        self.adjacency = adjacency
        self.strength = strength
        self.strength_bounds = strength_bounds

    def read(self, X) -> np.ndarray:
        """Validate a sample of nodes: integers, in a list or a table with one column."""
        nodes = np.asarray(X)
        nodes = nodes[:, 0] if nodes.ndim == 2 and nodes.shape[1] == 1 else nodes
        n = self._spectrum()[0].shape[0]
        fine = nodes.ndim == 1 and len(nodes) and nodes.dtype.kind in "iuf" and np.array_equal(nodes, np.rint(nodes))
        if not fine or np.min(nodes) < 0 or np.max(nodes) >= n:
            raise InvalidData(f"Diffusion: a sample is a list of nodes, integers from 0 to {n - 1}; got {X!r}.")
        return nodes.astype(np.int64)

    def _spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Return eigenvalues and eigenvectors of B, computed once per matrix."""
        known = self.__dict__.get("_known")
        if known is None or known[0] is not self.adjacency:
            B = self.adjacency.toarray() if sparse.issparse(self.adjacency) else np.asarray(self.adjacency, dtype=float)
            if B.shape[0] != B.shape[1] or not len(B) or not np.all(np.isfinite(B)):
                raise InvalidParameter("Diffusion", "adjacency", "a square matrix of finite numbers", self.adjacency)
            if not np.array_equal(B, B.T):
                raise InvalidParameter("Diffusion", "adjacency", "symmetric: B[i, j] = B[j, i]", self.adjacency)
            known = self.__dict__["_known"] = (self.adjacency, np.linalg.eigh(B))
        return known[1]

    def __getstate__(self):
        state = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_known"}

    def _gram(self, A, B):
        values, V = self._spectrum()
        roots = np.exp(self.strength * values / 2)
        return (V[A] * roots) @ (V[B] * roots).T

    def _diagonal(self, A):
        values, V = self._spectrum()
        return (V[A] ** 2) @ np.exp(self.strength * values)

    @property
    def hyperparameters(self):
        """The strength, if it is positive."""
        return self._own("strength") if self.strength > 0 else ()

    def _derivatives(self, A, K):
        values, V = self._spectrum()
        change = self.strength * values * np.exp(self.strength * values)
        return [lambda: (V[A] * change) @ V[A].T] if self.strength > 0 else []

    def eigenpairs(self, count: int) -> Eigenpairs:
        """Return the largest eigenvalues and their eigenvectors, under the measure with weight one on each node."""
        values, V = self._spectrum()
        strengths = np.exp(self.strength * values)
        first = np.argsort(-strengths, kind="stable")[: check_count("Diffusion", count)]
        return Eigenpairs(strengths[first], lambda X: V[self.read(X)][:, first])

    def feature_map(self, X) -> np.ndarray:
        """Return one feature per eigenvector of the graph."""
        values, V = self._spectrum()
        return V[self.read(X)] * np.exp(self.strength * values / 2)
