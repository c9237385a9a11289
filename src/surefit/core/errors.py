"""Errors and warnings of surefit.

::

    SurefitError
     ├── InvalidParameter (ValueError)       a constructor argument outside its domain
     ├── InvalidData (ValueError)            X, y or sample_weight that cannot be used
     │    └── InvalidType (TypeError)        values of a non-numeric type
     ├── MissingVerb (TypeError)             a loss, penalty or design lacks a function that a solver needs
     ├── CertificateError                    a claim does not hold
     │    └── Invalidated                    the certificate is not about this data or this model
     ├── PersistenceError                    a model file that cannot be read or must not be overwritten
     └── CommandError                        a command that failed

    ConvergenceWarning (scikit-learn's)      stopped before the requested gap; states the gap
    DataWarning (UserWarning)                unusual but valid input
"""

from typing import Any

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CertificateError",
    "CommandError",
    "ConvergenceWarning",
    "DataWarning",
    "InvalidData",
    "InvalidParameter",
    "InvalidType",
    "Invalidated",
    "MissingVerb",
    "PersistenceError",
    "SurefitError",
]


class SurefitError(Exception):
    """Base of all errors of surefit."""


class InvalidParameter(SurefitError, ValueError):
    """A parameter is outside its domain; the message states what was expected and what was passed.

    Examples
    --------
    >>> from surefit import InvalidParameter, Lasso
    >>> try:
    ...     Lasso(alpha=-1.0).fit([[0.0], [1.0]], [0.0, 1.0])
    ... except InvalidParameter as error:
    ...     print(error)
    Lasso: alpha must be a finite number >= 0; got -1.0.
    """

    def __init__(self, who: str, name: str, expected: str, got: object) -> None:
        super().__init__(f"{who}: {name} must be {expected}; got {got!r}.")


class InvalidData(SurefitError, ValueError):
    """Data that cannot be used; the message locates the first invalid value.

    Examples
    --------
    >>> from surefit import InvalidData, Lasso
    >>> try:
    ...     Lasso().fit([[0.0], [float("nan")]], [0.0, 1.0])
    ... except InvalidData as error:
    ...     print(error)
    Lasso: X contains NaN at row 1, column 0; remove the row, or impute it (for example with sklearn.impute.SimpleImputer in a Pipeline).
    """


class InvalidType(InvalidData, TypeError):
    """Data of a type that cannot be read as numbers or labels."""


class MissingVerb(SurefitError, TypeError):
    """A term does not implement a generic function (verb) that a solver needs."""

    def __init__(self, term: object, verb: Any) -> None:
        name = type(term).__name__
        known = ", ".join(sorted(cls.__name__ for cls in verb.classes)) or "nothing yet"
        super().__init__(
            f"{name}: {verb.__name__!r} is not defined for it (defined for {known}). "
            f"Register it with @{verb.__name__}.register({name})."
        )


class CertificateError(SurefitError):
    """A claim does not hold; ``claim`` is its name and ``excess`` the violation.

    Examples
    --------
    >>> from surefit import CertificateError, Lasso
    >>> X, y = [[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0]
    >>> model = Lasso(alpha=0.1).fit(X, y)
    >>> model.coef_[0] += 1.0
    >>> try:
    ...     model.verify(X, y)
    ... except CertificateError as error:
    ...     print(error)
    Lasso: coef_ was changed after the fit; the certificate is no longer valid for this model.
    """

    def __init__(self, message: str, claim: str | None = None, excess: float | None = None) -> None:
        super().__init__(message)
        self.claim = claim
        self.excess = excess


class Invalidated(CertificateError):
    """The certificate is not about this data or this model.

    Examples
    --------
    >>> from surefit import Invalidated, Lasso
    >>> model = Lasso(alpha=0.1).fit([[0.0], [1.0], [2.0]], [0.0, 1.0, 3.0])
    >>> try:
    ...     model.verify([[0.0], [1.0], [2.5]], [0.0, 1.0, 3.0])
    ... except Invalidated as error:
    ...     print(type(error).__name__)
    Invalidated
    """


class PersistenceError(SurefitError):
    """A model file that cannot be read, is not trusted, or must not be overwritten.

    Examples
    --------
    >>> import surefit
    >>> try:
    ...     surefit.load("no such file.surefit")
    ... except surefit.PersistenceError as error:
    ...     print(error)
    no such file.surefit: there is no such file; check the name and the folder.
    """


class CommandError(SurefitError):
    """A command failed; the process prints one sentence and ends with exit code 2."""


class SlowStart(UserWarning):
    """Compiled code cannot be cached on disk: results are correct, but the first fit of every process is slow.

    Examples
    --------
    >>> import warnings
    >>> from surefit import SlowStart
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", SlowStart)  # stop here if compiled code cannot be cached
    """


class DataWarning(UserWarning):
    """Unusual but valid input: the fit continues and reports what it found.

    Examples
    --------
    >>> import warnings
    >>> from surefit import DataWarning, LinearRegression
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     model = LinearRegression().fit([[0.0, 1.0], [1.0, 3.0]], [0.0, 1.0])
    >>> [issubclass(warning.category, DataWarning) for warning in caught]
    [True]
    """
