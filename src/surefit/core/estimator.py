"""Base of all estimators: issuing a certificate and verifying it."""

from __future__ import annotations

import importlib
import inspect
import logging
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from typing import Any

from surefit.core.budget import Reason
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.errors import ConvergenceWarning, Invalidated
from surefit.core.fingerprint import one_pass
from surefit.core.guards.extremes import watched
from surefit.core.issuing.drafts import Draft, Pending, may_wait, proved
from surefit.core.issuing.state import DIGESTING
from surefit.core.threads import is_tall, threads_instead_of_blas
from surefit.core.validation import is_partitioned
from surefit.core.warn import warn

LOG = logging.getLogger("surefit.fit")
_NOTHING: AbstractContextManager[None] = nullcontext()
#: Methods that treat rows independently: for partitioned rows, each partition is processed in place.
ROWWISE = (
    "predict", "predict_proba", "predict_log_proba", "decision_function", "score_samples", "transform", "predict_interval", "predict_set",
)  # fmt: skip


class ParameterNamesMixin:
    """Mixin that caches the parameter names; scikit-learn reads the signature in each call of ``get_params``.

    Place it left of ``BaseEstimator``.
    """

    _own_param_names: tuple[str, ...]

    @classmethod
    def _get_param_names(cls) -> list[str]:
        if "_own_param_names" not in cls.__dict__:
            cls._own_param_names = tuple(super()._get_param_names())  # type: ignore[misc]
        return list(cls._own_param_names)


class CertifiedMixin(ParameterNamesMixin):
    """Mixin that adds ``certificate_`` and ``verify`` to an estimator; place it left of ``BaseEstimator``.

    ``fit`` issues a draft (:meth:`_issue`). When ``fit`` returns, the draft is completed. The digest of every fitted
    attribute is added, so that the certificate covers the whole model. Claims without a value get the value that their
    checker proves. For small data, these values are proved when the certificate is first read
    (:mod:`surefit.core.issuing.drafts`).
    """

    _certificate: Draft | Pending | Certificate
    _shares_rows = False  # whether threads that share rows are faster than threads of BLAS for tall data

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        for name in ("fit", "partial_fit"):
            method = cls.__dict__.get(name)
            if method is None:
                continue
            if hasattr(method, "fn"):  # scikit-learn's available_if
                method.fn = _completing(method.fn)
            else:
                setattr(cls, name, _completing(method))
        for name in ROWWISE:
            method = inspect.getattr_static(cls, name, None)
            if hasattr(method, "fn"):
                method.fn = _by_partitions(method.fn)
            elif inspect.isfunction(method):
                setattr(cls, name, _by_partitions(method))

    @property
    def certificate_(self) -> Certificate:
        """Certificate of the last fit, bound to this model."""
        if "_certificate" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no certificate yet; call fit first.")
        certificate = complete(self)
        certificate.fix()
        return certificate.of(self)

    def __getstate__(self) -> Any:
        """Return the state for copies and files, with a proved certificate; without it if the model was changed."""
        state: Any = super().__getstate__()
        if isinstance(self.__dict__.get("_certificate"), Pending) and not DIGESTING.get():
            try:
                state = {**state, "_certificate": complete(self)}
            except Invalidated:
                state = {name: value for name, value in state.items() if name != "_certificate"}
        return state

    def verify(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Re-derive every claim of ``certificate_`` from the training data, independently of the solver."""
        return self.certificate_.verify(X, y, sample_weight=sample_weight)

    def _issue(
        self,
        grade: str,
        claims: list[Claim],
        *,
        problem: dict[str, Any] | tuple[str, ...],
        model: tuple[str, ...],
        data: dict[str, Any] | None = None,
        sample: tuple[Any, ...] | None = None,
        run: dict[str, Any] | None = None,
    ) -> None:
        """Store the draft of this fit's certificate.

        ``problem`` is the problem that was solved, or the names of the fitted attributes that define it together with
        the parameters and rows. ``model`` names the fitted attributes that the checkers read. ``sample`` is the
        validated (X, y, sample_weight), optionally followed by an offset; it is required if the checker must provide
        the value of a claim. It also provides the fingerprints that are otherwise passed as ``data``.
        """
        self._certificate = Draft(grade, claims, problem, model, data, sample, run or {})


def complete(estimator: Any, wait: bool = False) -> Any:
    """Return the certificate of ``estimator``, completed if it is a draft; with ``wait``, the proof for small data is deferred."""
    found = estimator.__dict__.get("_certificate")
    if isinstance(found, Draft):
        LOG.debug("%s: %d claims, run %s", type(estimator).__name__, len(found.claims), found.run)
        waits = wait and may_wait(found, estimator)
        found = Pending(found, estimator) if waits else proved(found, estimator)
        estimator._certificate = found
    elif isinstance(found, Pending) and not wait:
        with _sharing(estimator, (found.draft.sample or (None,))[0]):
            found = estimator._certificate = found.certificate()
    return found


def _sharing(estimator: Any, X: Any) -> AbstractContextManager[None]:
    """Return the context of a fit to ``X`` and of its proof, even if that is deferred: their sums then have a fixed order."""
    return threads_instead_of_blas() if estimator._shares_rows and is_tall(X) else _NOTHING


def _completing(method: Any) -> Any:
    """Wrap ``method`` so that the certificate is completed when it returns."""

    @wraps(method)
    def completed(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        if is_partitioned(X):
            return _cluster().fit(self, method.__name__, *args, **kwargs)
        with one_pass(), _sharing(self, X):
            fitted = method(self, *args, **kwargs)
            complete(self, wait=True)
        return fitted

    @wraps(method)
    def fit(self: Any, *args: Any, **kwargs: Any) -> Any:
        return watched(completed, self, args, kwargs)

    return fit


def _by_partitions(method: Any) -> Any:
    """Wrap ``method`` so that it returns a lazy Dask array for partitioned rows."""
    if hasattr(method, "_by_partitions"):
        return method

    @wraps(method)
    def called(self: Any, *args: Any, **kwargs: Any) -> Any:
        X = args[0] if args else kwargs.get("X")
        return _cluster().lazily(self, method, X) if is_partitioned(X) else method(self, *args, **kwargs)

    called._by_partitions = True  # type: ignore[attr-defined]
    return called


def _cluster() -> Any:
    return importlib.import_module("surefit.cluster")


def warn_unless_converged(who: str, reason: Reason, gap: float, tolerance: float) -> None:
    """Warn if the fit ended above its tolerance; state the gap, the tolerance in the same units, and what to do."""
    if reason is not Reason.CONVERGED and not gap <= tolerance:
        warn(f"{who}: gap {gap:.2g} > {tolerance:.2g} wanted: {reason.sentence()}.", ConvergenceWarning)
