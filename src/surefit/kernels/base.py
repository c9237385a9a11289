r"""Base class of kernels: values, Gram rows, hyperparameters with derivatives, serialization, and algebra.

A kernel is :math:`k(x, x') = \langle \phi(x), \phi(x') \rangle` for some feature map :math:`\phi`. A class defines how a sample is
validated (``read``), the values between two samples (``_gram``) and the values of each element with itself (``_diagonal``). ``k(X)`` is
``_gram`` with its diagonal replaced by ``_diagonal``. This is where noise, which belongs to a row and not to its
location, is added. It also makes the diagonal of a Gaussian kernel exactly one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone

from surefit.core import encoding
from surefit.core.errors import InvalidData, InvalidParameter
from surefit.core.estimator import ParameterNamesMixin
from surefit.core.validation import Rule, check_params
from surefit.kernels.expansions.eigenpairs import Eigenpairs
from surefit.kernels.hyperparameters import Derivatives, Hyperparameter, spread
from surefit.kernels.rows import GivenRows, GramRows, given_values
from surefit.kernels.vectors import read_vectors

#: Every kernel class by name, so that a record can be read without pickle.
CLASSES: dict[str, type[Kernel]] = {}


class Kernel(ParameterNamesMixin, BaseEstimator):
    """Base class of kernels; the module docstring lists the methods that a class defines.

    Examples
    --------
    >>> from surefit.kernels import RBF, Kernel, Linear
    >>> isinstance(RBF() + 2.0 * Linear(), Kernel)
    True
    >>> (RBF(gamma=1.0) * Linear())([[1.0], [2.0]]).round(4)
    array([[1.    , 0.7358],
           [0.7358, 4.    ]])
    """

    #: True: proved for every sample. False: known to fail for some samples. None: unknown.
    positive_semidefinite: bool | None = True
    #: Whether k(x, x') depends on x - x' only.
    stationary = False
    #: Kind of sample: "vectors", "strings", "nodes", "values" (a matrix of kernel values) or "anything".
    takes = "vectors"
    _rules: dict[str, Rule] = {}

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if not cls.__name__.startswith("_"):
            CLASSES[cls.__name__] = cls

    # --- methods that a class defines ---------------------------------------------------------------------------------

    def read(self, X) -> Any:
        """Validate a sample and return it in the format of this kernel."""
        return read_vectors(type(self).__name__, X)

    def _gram(self, A, B) -> np.ndarray:
        """Return the values between two validated samples."""
        raise InvalidParameter(type(self).__name__, "kernel", "an object of a class that defines _gram", self)

    def _diagonal(self, A) -> np.ndarray:
        """Return the values of each element with itself."""
        return np.array([self._gram(A[i : i + 1], A[i : i + 1])[0, 0] for i in range(A.shape[0])], dtype=np.float64)

    def _derivatives(self, A, K: np.ndarray) -> list[Callable[[], np.ndarray]]:
        """Return one function per hyperparameter, fixed or not, that computes the derivative of K with respect to its logarithm."""
        return []

    @property
    def hyperparameters(self) -> tuple[Hyperparameter, ...]:
        """The positive parameters of this kernel that can be learned, in a fixed order."""
        return ()

    def require_valid(self) -> None:
        """Raise ``InvalidParameter`` if a parameter of this kernel or of its inner kernels is invalid."""
        check_params(self)
        for value in self.get_params(deep=False).values():
            if _is_kernel(value):
                value.require_valid()

    # --- values -------------------------------------------------------------------------------------------------------

    def __call__(self, X, Y=None, *, dtype=np.float64) -> np.ndarray:
        """Return the kernel values of the elements of ``X`` with those of ``Y`` (default: ``X``), one row per element of X."""
        self.require_valid()
        if Y is not None:
            return self._between(X, Y, dtype)
        A = in_dtype(self.read(X), dtype)
        values = self._checked(self._gram(A, A), A, A, dtype)
        np.fill_diagonal(values, self._diagonal(A))
        return values

    def _between(self, X, Y, dtype) -> np.ndarray:
        """Return the values between two samples without validating the parameters of this kernel."""
        A = in_dtype(self.read(X), dtype)
        B = in_dtype(self.read(Y), dtype)
        if self.takes == "vectors" and A.shape[1] != B.shape[1]:
            raise InvalidData(
                f"{type(self).__name__}: both samples must have the same columns; got {A.shape[1]} and {B.shape[1]}."
            )
        return self._checked(self._gram(A, B), A, B, dtype)

    def diag(self, X) -> np.ndarray:
        """Return the diagonal of ``k(X)`` without computing the other entries."""
        self.require_valid()
        return np.asarray(self._diagonal(self.read(X)), dtype=np.float64)

    def rows(self, X, dtype=np.float64) -> GramRows:
        """Prepare a sample for repeated access to blocks of rows of its Gram matrix."""
        self.require_valid()
        return self._prepared(self.read(X), dtype)

    def _prepared(self, A, dtype) -> GramRows:
        return GivenRows(self, A, dtype) if self.takes == "values" else GramRows(self, A, dtype)

    def against(self, Z, support: np.ndarray, support_vectors) -> np.ndarray:
        """Return the values of new elements with the training elements ``support``, given as ``support_vectors``.

        With precomputed values, ``Z`` contains the values with all training elements and ``support_vectors`` is not
        used. The parameters are not validated again, because ``fit`` has validated them.
        """
        if self.takes == "values":
            return np.ascontiguousarray(given_values(self, self.read(Z)[:, support]), dtype=np.float64)
        return self._between(Z, support_vectors, np.float64) if len(support) else np.zeros((self.read(Z).shape[0], 0))

    def combined(self, Z, support: np.ndarray, support_vectors, coefficients: np.ndarray) -> np.ndarray:
        """Return the product of :meth:`against` with ``coefficients``, one row per training element: values of the functions."""
        return self.against(Z, support, support_vectors) @ coefficients

    def feature_map(self, X) -> np.ndarray:
        r"""Return explicit features :math:`\phi(x)`, one row per element, if their number is finite."""
        raise InvalidParameter(
            type(self).__name__,
            "the kernel",
            "one with finitely many features (Linear, DotProduct, Polynomial, CommonWords, StringSubsequence, Constant, or composed "
            "of these); surefit.kernels.empirical_features gives features on a sample for any kernel",
            self,
        )

    def eigenpairs(self, count: int) -> Eigenpairs:
        """Return eigenvalues and eigenfunctions if they are known in closed form."""
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

    # --- hyperparameters ---------------------------------------------------------------------------------------------

    @property
    def theta(self) -> np.ndarray:
        """Logarithms of the free hyperparameters."""
        return np.log([h.value for h in self.hyperparameters if not h.fixed])

    @property
    def bounds(self) -> np.ndarray:
        """Bounds of ``theta``, one row per entry."""
        return np.log([(h.low, h.high) for h in self.hyperparameters if not h.fixed]).reshape(-1, 2)

    def with_theta(self, theta) -> Kernel:
        """Return a copy whose free hyperparameters have the logarithms ``theta``."""
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

    def gram_and_gradient(self, X) -> tuple[np.ndarray, Derivatives]:
        """Return ``k(X)`` and its derivatives with respect to the entries of ``theta``, which are computed on access."""
        self.require_valid()
        A = self.read(X)
        K = self._checked(self._gram(A, A), A, A, np.float64)
        np.fill_diagonal(K, self._diagonal(A))
        recipes = zip(self.hyperparameters, self._derivatives(A, K), strict=True)
        return K, Derivatives([recipe for h, recipe in recipes if not h.fixed])

    def _own(self, *names: str) -> tuple[Hyperparameter, ...]:
        """Return the hyperparameters given by parameters ``name`` and ``name_bounds``; an array gives one per entry."""
        return tuple(h for name in names for h in spread(name, getattr(self, name), getattr(self, f"{name}_bounds")))

    # --- records ------------------------------------------------------------------------------------------------------

    def to_record(self) -> dict[str, Any]:
        """Return the kernel as a plain dict: its class and parameters, including inner kernels."""
        params = self.get_params(deep=False)
        return {"kernel": type(self).__name__, "params": {name: _plain(value) for name, value in params.items()}}

    @staticmethod
    def from_record(record: dict[str, Any]) -> Kernel:
        """Rebuild a kernel from :meth:`to_record`; user-defined functions cannot be rebuilt."""
        try:
            cls, params = CLASSES[record["kernel"]], record["params"]
        except (KeyError, TypeError):
            raise InvalidParameter("Kernel", "record", "a dict returned by to_record", record) from None
        for name, value in params.items():
            if isinstance(value, dict) and value.keys() == {"function"}:
                raise InvalidParameter(cls.__name__, name, "a function (a record cannot store one)", value["function"])
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
    """Return a numeric sample in ``dtype``; other samples are unchanged."""
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
    if isinstance(value, np.ndarray) and value.ndim <= 1 and not value.dtype.hasobject:
        return value.tolist()  # a vector and a list with the same numbers are equal parameters
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
