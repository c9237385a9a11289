"""Every error and warning that surefit raises.

::

    SurefitError
     ├── InvalidParameter (ValueError)       a constructor argument outside its domain
     ├── InvalidData (ValueError)            X, y or sample_weight that no model can use
     ├── MissingVerb (TypeError)             a loss, penalty or design lacks what a solver needs
     ├── CertificateError                    a claim does not hold
     │    └── Invalidated                    the certificate is not about this data or this model
     ├── PersistenceError                    a model file that cannot be read or must not be overwritten
     └── CommandError                        what the command line could not do

    ConvergenceWarning (scikit-learn's)      stopped before the requested gap; says how far away the answer is
    DataRemark (UserWarning)                 odd but usable input
"""

from sklearn.exceptions import ConvergenceWarning

__all__ = [
    "CertificateError",
    "CommandError",
    "ConvergenceWarning",
    "DataRemark",
    "InvalidData",
    "InvalidParameter",
    "Invalidated",
    "MissingVerb",
    "PersistenceError",
    "SurefitError",
]


class SurefitError(Exception):
    """Base of all errors of surefit."""


class InvalidParameter(SurefitError, ValueError):
    """A parameter outside its domain: who, what was expected, what came."""

    def __init__(self, who: str, name: str, expected: str, got: object):
        super().__init__(f"{who}: {name} must be {expected}; got {got!r}.")


class InvalidData(SurefitError, ValueError):
    """Data that no model can use, with the place of the first offence."""


class MissingVerb(SurefitError, TypeError):
    """A term does not implement a verb that a solver needs."""

    def __init__(self, term: object, verb):
        name = type(term).__name__
        known = ", ".join(sorted(cls.__name__ for cls in verb.classes)) or "nothing yet"
        super().__init__(
            f"{name}: {verb.__name__!r} is not defined for it (defined for {known}). "
            f"Register it with @{verb.__name__}.register({name})."
        )


class CertificateError(SurefitError):
    """A claim does not hold; ``claim`` names it and ``excess`` says by how much."""

    def __init__(self, message: str, claim: str | None = None, excess: float | None = None):
        super().__init__(message)
        self.claim = claim
        self.excess = excess


class Invalidated(CertificateError):
    """The certificate is not about this data or this model."""


class PersistenceError(SurefitError):
    """A model file that cannot be read, is not trusted, or must not be overwritten."""


class CommandError(SurefitError):
    """What the command line could not do, in one sentence; the process ends with exit code 2."""


class SlowStart(UserWarning):
    """Machine code cannot be kept on disk: fits are right, but the first one of every process is slow."""


class DataRemark(UserWarning):
    """Odd but usable input: the fit goes on, and says what it saw."""
