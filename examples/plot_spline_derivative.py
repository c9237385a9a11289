"""
Cubic smoothing spline: how well does it estimate a derivative?
===============================================================

The slope of a noisy curve by a cubic smoothing spline, next to the true slope.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit import SmoothingSpline

rng = np.random.default_rng(0)
x = np.sort(rng.uniform(0, 1, 150))
y = np.sin(2 * np.pi * x) + 0.1 * rng.standard_normal(150)
model = SmoothingSpline(3).fit(x, y)
grid = np.linspace(0.02, 0.98, 300)
slope = np.gradient(model.predict(grid), grid)

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
left.plot(x, y, ".", color="0.7")
left.plot(grid, model.predict(grid))
left.set(title="curve")
right.plot(grid, slope, label="slope of the spline")
right.plot(grid, 2 * np.pi * np.cos(2 * np.pi * grid), "k:", label="true slope")
right.set(title="derivative")
right.legend()
plt.show()
