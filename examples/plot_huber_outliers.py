"""
Huber regression: how much do five outliers move a line?
========================================================

Least squares follows outliers, Huber's regression limits their pull, and least absolute deviations ignores their size.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import HuberRegressor, LeastAbsoluteDeviations, LinearRegression

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 10, 60))[:, None]
y = 1 + 0.5 * x[:, 0] + 0.3 * rng.standard_normal(60)
y[-5:] -= 9

figure, axes = plt.subplots(figsize=(7, 4.2), layout="constrained")
axes.plot(x, y, "k.")
models = {
    "least squares": LinearRegression(),
    "Huber": HuberRegressor(),
    "least absolute deviations": LeastAbsoluteDeviations(),
}
for name, model in models.items():
    model.fit(x, y)
    axes.plot(x, model.predict(x), label=f"{name}: slope {model.coef_[0]:.2f}")
axes.set(title="The slope without outliers is 0.5")
axes.legend()
plt.show()
