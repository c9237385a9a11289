"""Paths of Brownian motion and of its integral, exact or from a truncated Karhunen-Loeve expansion."""

from __future__ import annotations

import numpy as np

from surefit.core.errors import InvalidParameter
from surefit.core.validation import COUNT
from surefit.data.points import Sample, require
from surefit.kernels import (
    IntegratedBrownian,
    Min,
    brownian_truncation_bound,
    draw_functions,
    karhunen_loeve,
    norm_tail_bound,
)


def make_brownian(
    n_samples: int = 100, *, n_paths: int = 1, terms: int | None = None, integrated: bool = False, random_state=None
) -> Sample:
    r"""Draw paths of the Wiener process W on (0, 1], or of its integral :math:`V(t) = \int_0^t W`.

    Parameters
    ----------
    n_samples : int >= 1, default=100
        Number n of times :math:`1/n, 2/n, \dots, 1`.
    n_paths : int >= 1, default=1
        Number of paths.
    terms : int >= 1 or None, default=None
        Draw from the truncated Karhunen-Loeve expansion instead of the exact process (Wiener only).
    integrated : bool, default=False
        Whether to draw the integral V instead of W.
    random_state : int, Generator or None
        Seed.

    Returns
    -------
    Sample
        X contains the times and y the values, of shape (n_samples,) for one path, else (n_samples, n_paths). ``truth``
        has ``covariance``, the covariance matrix of the values. With ``terms``, it also has ``truncation_bound``, a
        bound on the distance of that matrix from the covariance of the Wiener process, and ``norm_tail_bound``, a
        function of c that bounds :math:`P(\|f_m\|^2 \le c)`.

    Examples
    --------
    >>> from surefit.data import make_brownian
    >>> t, w, truth = make_brownian(4, terms=20, random_state=0)
    >>> w.shape, round(truth["truncation_bound"], 6), round(truth["norm_tail_bound"](5), 4)
    ((4,), 0.010132, 0.1778)
    """
    require("make_brownian", n_samples=(n_samples, COUNT), n_paths=(n_paths, COUNT))
    if terms is not None and (integrated or not COUNT.allows(terms)):
        words = "None or an integer >= 1, and None for integrated=True, which has no closed-form eigenpairs"
        raise InvalidParameter("make_brownian", "terms", words, terms)
    t = np.arange(1, n_samples + 1)[:, None] / n_samples
    truth: dict = {"covariance": (IntegratedBrownian() if integrated else Min())(t)}
    if terms is None:
        paths = draw_functions(IntegratedBrownian() if integrated else Min(), t, n_paths, random_state)
    else:
        paths = karhunen_loeve(Min(), t, terms, size=n_paths, random_state=random_state)
        truth = {
            "covariance": Min().eigenpairs(terms).kernel(t, t),
            "truncation_bound": brownian_truncation_bound(terms),
            "norm_tail_bound": lambda c: norm_tail_bound(terms, c),
        }
    return Sample(t, paths[0] if n_paths == 1 else paths.T, truth)
