from __future__ import annotations

import math
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin
from surefit.core.validation import COUNT, POSITIVE, RANDOM_STATE, Rule, check_params, one_of, read_data
from surefit.feature_maps.cosines import cosines, sines
from surefit.feature_maps.reading import KERNEL, READ, resolved
from surefit.kernels import RBF, Laplacian
from surefit.problems import pose

CONFIDENCE = Rule("a number between 0 and 1", lambda v: POSITIVE.allows(v) and v < 1)


class FeatureBoundsMixin:
    """Mixin with the error bounds of random features, as stated in the certificate; sparse rows are accepted."""

    certificate_: Any

    @property
    def error_bound_(self) -> float:
        """Bound on the error at a pair of points chosen before the draw, with the stated confidence."""
        return self.certificate_["feature_map.fixed_pair"].value

    @property
    def pairs_bound_(self) -> float:
        """Bound on the error at all pairs of training rows simultaneously."""
        return self.certificate_["feature_map.all_pairs"].value

    @property
    def sample_error_(self) -> float:
        """Largest error at the pairs of the first rows."""
        return self.certificate_["feature_map.sample_error"].value

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.input_tags.sparse = True
        return tags


class RandomFourierFeatures(
    FeatureBoundsMixin, CertifiedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator
):
    r"""Random features of the Gaussian and the Laplacian kernel.

    .. math:: \phi(x) = \frac{1}{\sqrt D} \bigl(\cos \omega_1^\top x, \dots, \cos \omega_D^\top x, \sin \omega_1^\top x, \dots,
              \sin \omega_D^\top x\bigr), \qquad \mathbb{E} \cos \omega^\top (x - x') = k(x, x') ,

    with frequencies drawn from the spectral distribution of the kernel: normal for :math:`e^{-\gamma \|x - x'\|^2}`, Cauchy in each
    column for :math:`e^{-\gamma \|x - x'\|_1}`. The map does not depend on the rows (except for ``gamma="scale"``), and
    :math:`\phi(x)^\top \phi(x) = 1 = k(x, x)` exactly.

    Guarantee: for two points fixed in advance, :math:`|k(x, x') - \phi(x)^\top \phi(x')| \le \sqrt{2 \ln(2 / \delta) / D}` with
    probability :math:`1 - \delta` over the frequencies, and :math:`\sqrt{2 \ln(n (n - 1) / \delta) / D}` simultaneously for all pairs of
    the n training rows (theory: :ref:`random-fourier-features`). The checker draws the frequencies again from their
    seed. The error is also measured on some pairs; for other pairs, this is only an estimate.

    Parameters
    ----------
    n_frequencies : int >= 1, default=100
        Number of frequencies D; there are 2D features.
    kernel : {"rbf", "laplacian"}, RBF or Laplacian, default="rbf"
        The kernel, by name or as an object (an RBF may have one length scale per column).
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of a kernel given by name; "scale" is 1 / (n_features * X.var()).
    confidence : float between 0 and 1, default=0.95
        The confidence :math:`1 - \delta` of the bounds.
    random_state : int, RandomState or None, default=None
        Source of the seed of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (D, n_features)
        The frequencies :math:`\omega`.
    kernel_ : Kernel
        The kernel used.
    error_bound_, pairs_bound_ : float
        The two bounds of the guarantee.
    sample_error_ : float
        Largest error over the pairs of the first 100 rows.
    certificate_ : Certificate
        Claims with evidence; ``certificate_.verify(X)`` re-derives them.
    n_features_in_, feature_names_in_
        As in scikit-learn.

    Examples
    --------
    >>> import numpy as np
    >>> from surefit import RandomFourierFeatures
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> features = RandomFourierFeatures(2000, gamma=0.1, random_state=0).fit(X)
    >>> features.transform(X).shape, round(features.error_bound_, 3), round(features.pairs_bound_, 3)
    ((300, 4000), 0.061, 0.12)
    >>> features.sample_error_ < features.pairs_bound_
    True
    """

    _rules = {
        "n_frequencies": COUNT,
        "kernel": KERNEL,
        "gamma": one_of("scale", "auto") | POSITIVE,
        "confidence": CONFIDENCE,
        "random_state": RANDOM_STATE,
    }

    def __init__(self, n_frequencies=100, *, kernel="rbf", gamma="scale", confidence=0.95, random_state=None):
        self.n_frequencies = n_frequencies
        self.kernel = kernel
        self.gamma = gamma
        self.confidence = confidence
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the frequencies; the rows determine their dimension, and gamma if it is "scale". Returns the transformer."""
        check_params(self)
        X = read_data(self, X, **READ)
        self.kernel_ = kernel = resolved(self, X)
        if not isinstance(kernel, (RBF, Laplacian)):
            raise InvalidParameter(
                "RandomFourierFeatures", "kernel", '"rbf", "laplacian", an RBF or a Laplacian', self.kernel
            )
        D, d = int(self.n_frequencies), X.shape[1]
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.seed_ = seed
        self.frequencies_ = _drawn(kernel, np.random.default_rng(seed), (D, d))
        self._issue(
            "C",
            [Claim(f"feature_map.{name}") for name in ("fixed_pair", "all_pairs", "sample_error")],
            problem=pose(self, X),
            model=("frequencies_", "seed_"),
            sample=(X, None, None),
        )
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, one column per feature: cosines first, then sines."""
        check_is_fitted(self)
        angles = np.asarray(read_data(self, X, reset=False, **READ) @ self.frequencies_.T, dtype=np.float64)
        return np.hstack([cosines(angles.copy()), sines(angles)]) / math.sqrt(len(self.frequencies_))

    @property
    def _n_features_out(self) -> int:
        return 2 * len(self.frequencies_)


def _drawn(kernel: RBF | Laplacian, draws: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Draw from the spectral distribution of a Gaussian or Laplacian kernel."""
    if isinstance(kernel, RBF):
        return draws.standard_normal(shape) / kernel.lengths
    return draws.standard_cauchy(shape) * float(kernel.gamma)
