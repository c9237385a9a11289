"""
Certificates: what happens when a model is changed?
===================================================

One coefficient is moved by a growing amount. The checker refuses each changed model, however small the change.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import CertificateError, Ridge

rng = np.random.default_rng(0)
X = rng.standard_normal((50, 3))
y = X @ [1.0, 2.0, 0.0] + 0.1 * rng.standard_normal(50)
shifts, refused = np.r_[0.0, np.logspace(-15, 0, 16)], []
for shift in shifts:
    model = Ridge(0.1).fit(X, y)
    model.coef_ = model.coef_ + np.array([shift, 0.0, 0.0])
    try:
        refused.append(not model.verify(X, y))
    except CertificateError:
        refused.append(True)

figure, axes = plt.subplots(figsize=(7, 2.6), layout="constrained")
axes.semilogx(np.maximum(shifts, 1e-16), refused, "o")
axes.set(
    yticks=[0, 1],
    yticklabels=["verified", "refused"],
    xlabel="change of a coefficient (leftmost: none)",
    ylim=(-0.3, 1.3),
)
plt.show()
