"""What the checker proves about coefficients other than the fitted ones."""

from dataclasses import replace

import numpy as np

from surefit.checks.linear.columns import gaps
from surefit.core.sample import Data


def proof_at(model, X, y, coef, intercept):
    """Return the gaps that the checker proves at other coefficients of a fitted model."""
    certificate = model.certificate_
    parts = {**certificate.model, "coef_": np.asarray(coef, dtype=float), "intercept_": np.asarray(intercept, float)}
    target = y.astype(np.float64) if y.dtype.kind in "biuf" else y
    return gaps(replace(certificate, model=parts, subject=None), Data(X, target, None, {}, X))
