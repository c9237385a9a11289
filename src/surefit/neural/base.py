"""Shared parts of the two network estimators: predictions, counts, and the packed format of certificates."""

from __future__ import annotations

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from surefit.core.errors import InvalidParameter
from surefit.core.threads import one_blas_thread
from surefit.core.validation import read_data
from surefit.neural.parameters import architecture_of
from surefit.neural.training import STOCHASTIC
from surefit.solvers.networks.activations import activation_named
from surefit.solvers.networks.architecture import Architecture
from surefit.solvers.networks.backpropagation import ROWS, Network, predictions
from surefit.solvers.networks.outputs import Output

READ = {"accept_sparse": ["csr", "csc"], "dtype": [np.float64, np.float32]}


def _trains_by_batches(estimator) -> bool:
    if estimator.solver not in STOCHASTIC:
        raise AttributeError(
            f"{type(estimator).__name__}: partial_fit needs solver='adam' or 'sgd'; {estimator.solver!r} needs all rows at once."
        )
    return True


has_partial_fit = available_if(_trains_by_batches)


class NetworkMixin:
    """Mixin with the forward pass, ``architecture`` and the packed weights."""

    coefs_: list[np.ndarray]
    intercepts_: list[np.ndarray]

    def architecture(self, n_features: int, n_outputs: int) -> Architecture:
        """Return sizes, link tables and counts (``n_links``, ``n_parameters``) for a given number of columns."""
        return architecture_of(self, n_features, n_outputs)

    @property
    def packed_(self) -> np.ndarray:
        """Vector of all weight matrices, row by row, followed by all biases."""
        return np.concatenate([*(matrix.ravel() for matrix in self.coefs_), *self.intercepts_])

    @property
    def packed_links_(self) -> np.ndarray:
        """Link tables in the order of ``packed_``: index of the free weight of each link, -1 if there is no link."""
        tables = zip(self._tables, self.coefs_, strict=True)  # type: ignore[attr-defined]
        return np.concatenate([(np.arange(m.size) if t is None else t.ravel()) for t, m in tables])

    def _outputs(self, X, output_activation: str, reset_checked: bool = False) -> np.ndarray:
        """Return the values of the output units for the rows of X."""
        check_is_fitted(self)
        X = read_data(self, X, reset=False, **READ)
        X = X.tocsr() if hasattr(X, "tocsr") else X
        sizes = (self.coefs_[0].shape[0], *(len(bias) for bias in self.intercepts_))
        theta = self.packed_
        theta = theta if X.dtype == theta.dtype else theta.astype(np.result_type(theta, X))
        full = Architecture(sizes, (None,) * len(self.coefs_))
        output, activation = Output(output_activation, ""), activation_named(self.activation)  # type: ignore[attr-defined]
        with one_blas_thread(), np.errstate(over="ignore"):
            return predictions(Network(full, activation, output, theta, min(ROWS, X.shape[0])), X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


def require_no_early_stop(estimator) -> None:
    """Raise ``InvalidParameter`` if early stopping is requested in ``partial_fit``, which runs a single epoch."""
    if estimator.early_stopping:
        raise InvalidParameter(
            type(estimator).__name__, "early_stopping", "False: partial_fit does not support early_stopping=True", True
        )
