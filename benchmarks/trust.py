"""What a certificate costs: its share of the fit, which here always includes the proof, and the time of a verification."""

import time
from collections.abc import Callable
from typing import Any


class Meter:
    """Times the certificates that surefit issues from here on, and keeps the last one with its data."""

    def __init__(self) -> None:
        from surefit.core import estimator

        self.seconds, self._depth, self._fits = 0.0, 0, 0
        self._last: tuple[Any, tuple | None] | None = None
        mixin: Any = estimator.CertifiedMixin
        issue = self._timed(mixin._issue)

        def remembering(issuer, /, *args, **kwargs):
            self._last = issuer, kwargs.get("sample")
            return issue(issuer, *args, **kwargs)

        watched, complete = estimator.watched, estimator.complete

        def counted(*args):
            self._fits += 1
            try:
                return watched(*args)
            finally:
                self._fits -= 1

        def proving(model, wait=False):
            return complete(
                model, wait and self._fits > 1
            )  # only the fits of parts may wait for a reader of their proofs

        mixin._issue = remembering
        estimator.watched, estimator.complete = counted, self._timed(proving)

    def _timed(self, function: Callable) -> Callable:
        def timed(*args, **kwargs):
            self._depth += 1
            start = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self._depth -= 1
                if not self._depth:  # a certificate may contain others
                    self.seconds += time.perf_counter() - start

        return timed

    def share(self, fit: float) -> float | None:
        """Time of the certificates over ``fit``, that of everything; None if there was none."""
        return None if self._last is None else self.seconds / fit

    def verification(self) -> float | None:
        """Seconds of a verification of the last certificate; None if there is none, or if it does not say about which data."""
        if self._last is None or self._last[1] is None:
            return None
        model, sample = self._last
        start = time.perf_counter()
        model.verify(*sample)
        return time.perf_counter() - start
