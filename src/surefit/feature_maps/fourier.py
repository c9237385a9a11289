from __future__ import annotations

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from surefit.checks.feature_maps import SAMPLE, draw_frequencies, hoeffding_error, sample_error, waves_of
from surefit.core.claims import Claim
from surefit.core.errors import InvalidParameter
from surefit.core.estimator import CertifiedMixin, data_fingerprint
from surefit.core.validation import COUNT, POSITIVE, RANDOM_STATE, Rule, check_params, one_of, read_data
from surefit.feature_maps.reading import KERNEL, READ, resolved
from surefit.kernels import RBF, Laplacian

CONFIDENCE = Rule("a number between 0 and 1", lambda v: POSITIVE.allows(v) and v < 1)


class RandomFourierFeatures(CertifiedMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    r"""Random features of the Gaussian and the Laplacian kernel.

    .. math:: \phi(x) = \frac{1}{\sqrt D} \bigl(\cos \omega_1^\top x, \dots, \cos \omega_D^\top x, \sin \omega_1^\top x, \dots,
              \sin \omega_D^\top x\bigr), \qquad \mathbb{E} \cos \omega^\top (x - x') = k(x, x') ,

    with frequencies drawn from the spectral law of the kernel: normal for :math:`e^{-\gamma \|x - x'\|^2}`, Cauchy in each column for
    :math:`e^{-\gamma \|x - x'\|_1}`. The map does not look at the rows (but for ``gamma="scale"``), and
    :math:`\phi(x)^\top \phi(x) = 1 = k(x, x)` exactly.

    Guarantee: for two points fixed beforehand :math:`|k(x, x') - \phi(x)^\top \phi(x')| \le \sqrt{2 \ln(2 / \delta) / D}` with probability
    :math:`1 - \delta` over the frequencies, and :math:`\sqrt{2 \ln(n (n - 1) / \delta) / D}` for all pairs of the n training rows at once
    (theory: :ref:`random-fourier-features`). The checker draws the frequencies again from their seed. The error measured on some pairs is
    stated as what it is: a fact about them, an estimate for others.

    Parameters
    ----------
    n_frequencies : int >= 1, default=100
        Number of frequencies D; there are 2D features.
    kernel : {"rbf", "laplacian"}, RBF or Laplacian, default="rbf"
        The kernel, by name or as an object (an RBF may have one length scale a column).
    gamma : {"scale", "auto"} or float > 0, default="scale"
        Factor of a kernel that was given by name; "scale" is 1 / (n_features * X.var()).
    confidence : float between 0 and 1, default=0.95
        :math:`1 - \delta`.
    random_state : int, RandomState or None, default=None
        Draws the seed of the frequencies.

    Attributes
    ----------
    frequencies_ : ndarray of shape (D, n_features)
        :math:`\omega`.
    kernel_ : Kernel
        The kernel used.
    error_bound_, pairs_bound_ : float
        The two bounds of the guarantee.
    sample_error_ : float
        Largest error over the pairs of the first 500 rows.
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
        """Draw the frequencies; the rows give their number, and gamma if that is "scale". Returns the transformer."""
        check_params(self)
        X = read_data(self, X, **READ)
        self.kernel_ = kernel = resolved(self, X)
        if not isinstance(kernel, (RBF, Laplacian)):
            raise InvalidParameter(
                "RandomFourierFeatures", "kernel", '"rbf", "laplacian", an RBF or a Laplacian', self.kernel
            )
        n, d = X.shape
        D, delta = int(self.n_frequencies), 1.0 - float(self.confidence)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self.frequencies_ = draw_frequencies(kernel, D, d, seed)
        self.error_bound_ = hoeffding_error(D, 1, delta)
        self.pairs_bound_ = hoeffding_error(D, max(n * (n - 1) // 2, 1), delta)
        self.sample_error_ = sample_error(kernel, X, self.frequencies_)
        self._record(X, seed)
        return self

    def transform(self, X) -> np.ndarray:
        """Return the features, one column each: cosines first, then sines."""
        check_is_fitted(self)
        return waves_of(read_data(self, X, reset=False, **READ), self.frequencies_)

    @property
    def _n_features_out(self) -> int:
        return 2 * len(self.frequencies_)

    def _record(self, X, seed: int) -> None:
        words = "Inner products of the features differ from the kernel by at most"
        drawn = ("pseudorandom_draws",)
        confidence = float(self.confidence)
        fixed = f"{words} {self.error_bound_:.3g} with probability {confidence:g}."
        every = f"{words} {self.pairs_bound_:.3g}, at all pairs at once, with probability {confidence:g}."
        some = f"{words} {self.sample_error_:.3g}; an estimate for other pairs."
        rows = min(X.shape[0], SAMPLE)
        self._issue(
            "C",
            [
                Claim("feature_map.fixed_pair", "uncertainty", fixed, value=self.error_bound_, confidence=confidence,
                      about="one pair of points that was chosen before the draw", assumptions=drawn),
                Claim("feature_map.all_pairs", "uncertainty", every, value=self.pairs_bound_, confidence=confidence,
                      about="all pairs of training rows", assumptions=drawn),
                Claim("feature_map.sample_error", "data_fact", some, value=self.sample_error_,
                      about=f"the pairs of the first {rows} rows"),
            ],
            problem={"kernel": self.kernel_.to_record(), "seed": seed},
            model=("frequencies_",),
            data=data_fingerprint(X),
        )  # fmt: skip

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
