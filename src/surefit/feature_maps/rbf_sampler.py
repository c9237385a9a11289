from __future__ import annotations

import numbers

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.core.claims import Claim
from surefit.core.estimator import CertifiedMixin
from surefit.core.threads import blas_threads, map_blocks, one_blas_thread
from surefit.core.validation import COUNT, POSITIVE, RANDOM_STATE, check_params, one_of, read_data
from surefit.feature_maps.cosines import cosines
from surefit.feature_maps.fourier import CONFIDENCE, FeatureBoundsMixin
from surefit.feature_maps.reading import READ, VALUES, resolved


class RBFSampler(FeatureBoundsMixin, CertifiedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random features of the Gaussian kernel with random phases, as in scikit-learn.

    .. math:: \phi(x) = \sqrt{2 / D} \bigl(\cos(\omega_1^\top x + b_1), \dots, \cos(\omega_D^\top x + b_D)\bigr), \qquad
              \mathbb{E}\, \phi(x)^\top \phi(x') = e^{-\gamma \|x - x'\|^2},

    with normal frequencies and uniform phases. :class:`RandomFourierFeatures` uses the cosine and the sine of each
    frequency instead; for D frequencies, its error bound is half as large.

    Guarantee: for two points fixed in advance, :math:`|k(x, x') - \phi(x)^\top \phi(x')| \le \sqrt{8 \ln(2 / \delta) / D}` with probability
    :math:`1 - \delta` over the draws, and :math:`\sqrt{8 \ln(n (n - 1) / \delta) / D}` simultaneously for all pairs of the n training rows
    (theory: :ref:`random-fourier-features`). The checker repeats the draws from the seed.

    Parameters
    ----------
    gamma : "scale" or float > 0, default=1.0
        Factor of the kernel; "scale" is 1 / (n_features * X.var()).
    n_components : int >= 1, default=100
        Number of features D.
    random_state : int, RandomState or None, default=None
        Source of the seed; an integer draws the same features as in scikit-learn.
    confidence : float between 0 and 1, default=0.95
        The confidence :math:`1 - \delta` of the bounds.

    Attributes
    ----------
    random_weights_ : ndarray of shape (n_features, n_components)
        Frequencies :math:`\omega`.
    random_offset_ : ndarray of shape (n_components,)
        Phases :math:`b`.
    kernel_ : Kernel
        The kernel that is approximated.
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
    >>> from surefit import RBFSampler
    >>> X = np.random.default_rng(0).normal(size=(300, 4))
    >>> features = RBFSampler(gamma=0.1, n_components=2000, random_state=0).fit(X)
    >>> features.transform(X).shape, round(features.error_bound_, 3)
    ((300, 2000), 0.121)
    >>> features.sample_error_ < features.pairs_bound_
    True
    """

    _rules = {
        "gamma": one_of("scale") | POSITIVE,
        "n_components": COUNT,
        "random_state": RANDOM_STATE,
        "confidence": CONFIDENCE,
    }
    kernel = "rbf"

    def __init__(self, *, gamma=1.0, n_components=100, random_state=None, confidence=0.95):
        self.gamma = gamma
        self.n_components = n_components
        self.random_state = random_state
        self.confidence = confidence

    def fit(self, X, y=None):
        """Draw frequencies and phases; the rows determine their dimension, and gamma if it is "scale". Returns the transformer."""
        check_params(self)
        X = read_data(self, X, **READ)
        self.kernel_ = resolved(self, X)
        seed, given = self.random_state, isinstance(self.random_state, numbers.Integral)
        self.seed_ = int(seed) if given else int(check_random_state(seed).randint(2**31 - 1))
        draws, D = np.random.RandomState(self.seed_), int(self.n_components)
        self.random_weights_ = np.sqrt(2.0 * self.kernel_.gamma) * draws.normal(size=(X.shape[1], D))
        self.random_offset_ = draws.uniform(0, 2 * np.pi, size=D)
        self._issue(
            "C",
            [Claim(f"feature_map.{name}") for name in ("fixed_pair", "all_pairs", "sample_error")],
            problem=(),
            model=("random_weights_", "random_offset_", "seed_"),
            sample=(X, None, None),
        )
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, one column per feature."""
        check_is_fitted(self)
        X, W = read_data(self, X, reset=False, **READ), self.random_weights_
        features, factor = np.empty((X.shape[0], W.shape[1])), np.sqrt(2.0 / W.shape[1])

        def part(start: int, stop: int) -> None:
            features[start:stop] = X[start:stop] @ W
            cosines(features[start:stop], self.random_offset_)
            features[start:stop] *= factor

        threads = blas_threads()
        with one_blas_thread():
            map_blocks(part, X.shape[0], max(1, VALUES // W.shape[1]), threads)
        return features

    @property
    def _n_features_out(self) -> int:
        return self.random_weights_.shape[1]
