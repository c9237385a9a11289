r"""What every kernel shares: values, prepared rows, hyper-parameters with slopes, a plain record, and the algebra.

A kernel is :math:`k(x, x') = \langle \phi(x), \phi(x') \rangle` for some feature map :math:`\phi`. A class says how two samples are
read (``read``), the values between two of them (``_gram``) and the values of a sample with itself, row by row (``_diagonal``).
``k(X)`` is ``_gram`` with its diagonal replaced by ``_diagonal``: that is where noise, which belongs to a row and not to its
place, enters, and why a Gaussian kernel is exactly one there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from surefit.core import encoding
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.validation import Rule, check_params
from surefit.kernels.eigenpairs import Eigenpairs
from surefit.kernels.hyperparameters import Hyperparameter, Slopes, spread
from surefit.kernels.rows import GivenRows, GramRows, given_values
from surefit.kernels.vectors import read_vectors

#: Every kernel class by its name, so that a record can be read back without pickle.
CLASSES: dict[str, type[Kernel]] = {}


class Kernel(BaseEstimator):
    """Base of all kernels; see the module's text for what a class defines."""

    #: True: proved for every sample. False: known to fail for some. None: nothing is known.
    positive_semidefinite: bool | None = True
    #: Whether k(x, x') depends on x - x' alone.
    stationary = False
    #: What a sample consists of: "vectors", "strings", "nodes", "values" (a matrix of kernel values) or "anything".
    takes = "vectors"
    _rules: dict[str, Rule] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            CLASSES[cls.__name__] = cls

    # --- what a class defines -----------------------------------------------------------------------------------------

    def read(self, X) -> Any:
        """Check a sample and return it as this kernel wants it."""
        return read_vectors(type(self).__name__, X)

    def _gram(self, A, B) -> np.ndarray:
        """Values between two samples that were read."""
        raise InvalidParameter(type(self).__name__, "kernel", "an object of a class that defines _gram", self)

    def _diagonal(self, A) -> np.ndarray:
        """Values of each element with itself."""
        return np.array([self._gram(A[i : i + 1], A[i : i + 1])[0, 0] for i in range(A.shape[0])], dtype=np.float64)

    def _slopes(self, A, K: np.ndarray) -> list[Callable[[], np.ndarray]]:
        """One function a hyper-parameter, fixed or not, that returns the slope of K by its logarithm."""
        return []

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The positive numbers of this kernel that can be learnt, in a fixed order."""
        return ()

    # --- values -------------------------------------------------------------------------------------------------------

    def __call__(self, X, Y=None, *, dtype=np.float64) -> np.ndarray:
        """Return the kernel values of the elements of ``X`` with those of ``Y`` (default: ``X``), one row an element of X."""
        check_params(self)
        A = in_dtype(self.read(X), dtype)
        if Y is None:
            values = self._checked(self._gram(A, A), A, A, dtype)
            np.fill_diagonal(values, self._diagonal(A))
            return values
        B = in_dtype(self.read(Y), dtype)
        if self.takes == "vectors" and A.shape[1] != B.shape[1]:
            raise InvalidData(
                f"{type(self).__name__}: both samples must have the same columns; got {A.shape[1]} and {B.shape[1]}."
            )
        return self._checked(self._gram(A, B), A, B, dtype)

    def diag(self, X) -> np.ndarray:
        """Return the diagonal of ``k(X)`` without computing the rest."""
        check_params(self)
        return np.asarray(self._diagonal(self.read(X)), dtype=np.float64)

    def rows(self, X, dtype=np.float64) -> GramRows:
        """Prepare a sample once for many blocks of rows of its Gram matrix."""
        check_params(self)
        return self._prepared(self.read(X), dtype)

    def _prepared(self, A, dtype) -> GramRows:
        return GivenRows(self, A, dtype) if self.takes == "values" else GramRows(self, A, dtype)

    def against(self, Z, support: np.ndarray, support_vectors) -> np.ndarray:
        """Return the values of new elements with the training elements number ``support``, which are ``support_vectors``.

        With precomputed values ``Z`` holds the values with all training elements and the vectors are not used.
        """
        if self.takes == "values":
            return np.ascontiguousarray(given_values(self, self.read(Z)[:, support]), dtype=np.float64)
        return self(Z, support_vectors) if len(support) else np.zeros((self.read(Z).shape[0], 0))

    def feature_map(self, X) -> np.ndarray:
        r"""Return explicit features :math:`\phi(x)`, one row an element, where they are finitely many."""
        raise InvalidParameter(
            type(self).__name__,
            "the kernel",
            "one with finitely many features (Linear, Polynomial, CommonWords, StringSubsequence, Constant, or composed of "
            "such); surefit.kernels.empirical_features gives features on a sample for any kernel",
            self,
        )

    def eigenpairs(self, count: int) -> Eigenpairs:
        """Return eigenvalues and eigenfunctions where they are known in closed form."""
        raise InvalidParameter(
            type(self).__name__,
            "the kernel",
            "one with eigenpairs in closed form (Min, RBF, Diffusion); surefit.kernels.mercer computes them on a sample",
            self,
        )

    def _checked(self, values, A, B, dtype) -> np.ndarray:
        values = np.ascontiguousarray(values, dtype=dtype)
        if values.shape != (A.shape[0], B.shape[0]):
            raise InvalidData(
                f"{type(self).__name__}: the kernel function must return an array of shape {(A.shape[0], B.shape[0])}; "
                f"got {values.shape}."
            )
        return values

    # --- hyper-parameters ---------------------------------------------------------------------------------------------

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the free hyper-parameters."""
        return np.log([h.value for h in self.hyperparameters if not h.fixed])

    @property
    def bounds(self) -> np.ndarray:
        """Bounds of ``theta``, one row each."""
        return np.log([(h.low, h.high) for h in self.hyperparameters if not h.fixed]).reshape(-1, 2)

    def with_theta(self, theta) -> Kernel:
        """Return a copy whose free hyper-parameters have the logarithms ``theta``."""
        free = [h for h in self.hyperparameters if not h.fixed]
        theta = np.asarray(theta, dtype=np.float64)
        if theta.shape != (len(free),):
            raise InvalidParameter(type(self).__name__, "theta", f"an array of {len(free)} numbers", theta)
        params = self.get_params()
        values: dict[str, Any] = {}
        for h, value in zip(free, np.exp(theta), strict=True):
            name, _, place = h.name.partition("[")
            if place:
                values.setdefault(name, np.array(params[name], dtype=np.float64))[int(place[:-1])] = value
            else:
                values[name] = float(value)
        return clone(self).set_params(**values)

    def gram_and_gradient(self, X) -> tuple[np.ndarray, Slopes]:
        """Return ``k(X)`` and its slopes by the entries of ``theta``, each computed when it is asked for."""
        check_params(self)
        A = self.read(X)
        K = self._checked(self._gram(A, A), A, A, np.float64)
        np.fill_diagonal(K, self._diagonal(A))
        recipes = zip(self.hyperparameters, self._slopes(A, K), strict=True)
        return K, Slopes([recipe for h, recipe in recipes if not h.fixed])

    def _own(self, *names: str) -> tuple[Hyperparameter, ...]:
        """Hyper-parameters read from parameters ``name`` and ``name_bounds``; arrays give one an entry."""
        return tuple(h for name in names for h in spread(name, getattr(self, name), getattr(self, f"{name}_bounds")))

    # --- records ------------------------------------------------------------------------------------------------------

    def to_record(self) -> dict[str, Any]:
        """Return the kernel as a plain dict: its class and parameters, kernels inside likewise."""
        params = self.get_params(deep=False)
        return {"kernel": type(self).__name__, "params": {name: _plain(value) for name, value in params.items()}}

    @staticmethod
    def from_record(record: dict[str, Any]) -> Kernel:
        """Rebuild a kernel from :meth:`to_record`; a function of the user's cannot be rebuilt."""
        try:
            cls, params = CLASSES[record["kernel"]], record["params"]
        except (KeyError, TypeError):
            raise InvalidParameter("Kernel", "record", "what to_record returned", record) from None
        for name, value in params.items():
            if isinstance(value, dict) and value.keys() == {"function"}:
                raise InvalidParameter(
                    cls.__name__, name, "a function at hand (a record cannot hold one)", value["function"]
                )
        return cls(**{name: _restored(value) for name, value in params.items()})

    def __eq__(self, other) -> bool:
        return type(self) is type(other) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())

    def _key(self) -> tuple:
        functions = tuple(
            id(value) for _, value in sorted(self.get_params().items()) if callable(value) and not _is_kernel(value)
        )
        return encoding.canonical(self.to_record()), functions

    # --- algebra ------------------------------------------------------------------------------------------------------

    def __add__(self, other):
        from surefit.kernels.algebra import Sum
        from surefit.kernels.constant import Constant

        if _is_kernel(other):
            return Sum(self, other)
        return Sum(self, Constant(float(other))) if _is_number(other) else NotImplemented

    __radd__ = __add__

    def __mul__(self, other):
        from surefit.kernels.algebra import Product, Scaled

        if _is_kernel(other):
            return Product(self, other)
        return Scaled(self, float(other)) if _is_number(other) else NotImplemented

    __rmul__ = __mul__

    def __pow__(self, exponent):
        from surefit.kernels.algebra import Power

        return Power(self, exponent)


def in_dtype(A, dtype):
    """Return a sample of numbers in ``dtype``; other samples as they are."""
    return A.astype(dtype, copy=False) if A.dtype.kind == "f" else A


def _is_kernel(value) -> bool:
    return isinstance(value, Kernel)


def _is_number(value) -> bool:
    return isinstance(value, (int, float, np.integer, np.floating)) and not isinstance(value, bool)


def _plain(value: Any) -> Any:
    if _is_kernel(value):
        return value.to_record()
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if callable(value):
        return {"function": getattr(value, "__qualname__", type(value).__name__)}
    return value


def _restored(value: Any) -> Any:
    if isinstance(value, dict) and "kernel" in value:
        return Kernel.from_record(value)
    if isinstance(value, list):
        return tuple(_restored(item) for item in value)
    return value
