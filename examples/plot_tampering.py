"""
Ridge regression: does the checker detect a changed coefficient?
================================================================

One coefficient of a ridge regression on the diabetes data is changed by a growing amount. The checker refuses each changed model, however
small the change.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from surefit import CertificateError, Ridge

X, y = load_diabetes(return_X_y=True)
shifts, refused = np.r_[0.0, np.logspace(-15, 0, 16)], []
for shift in shifts:
    model = Ridge(0.1).fit(X, y)
    model.coef_ = model.coef_ * np.r_[1.0 + shift, np.ones(9)]
    try:
        refused.append(not model.verify(X, y))
    except CertificateError:
        refused.append(True)

figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
axes.semilogx(np.maximum(shifts, 1e-16), refused, "o")
axes.set(
    yticks=[0, 1],
    yticklabels=["verified", "refused"],
    xlabel="relative change of a coefficient (leftmost: none)",
    ylim=(-0.3, 1.3),
)
plt.show()
