"""
Lagrangian duality: how tight is the lower bound of a multiplier?
=================================================================

Minimize :math:`x^2` over an interval around 3. Every feasible point gives an upper bound on the optimum, and every multiplier
:math:`\\lambda \\ge 0` gives a lower bound. The best upper and the best lower bound are equal.
"""

# %%
# The program returns its optimum and the multiplier that proves it.
import matplotlib.pyplot as plt
import numpy as np

from surefit.duality import WaterFilling, kkt_report, nearest_to_origin, weak_duality

program, x, multiplier = nearest_to_origin(3.0)
kkt_report(program, x, multiplier)

# %%
# Left, the parabola with its feasible interval; right, what each multiplier proves. Any pair of points, one from each side,
# brackets the optimum.
points, weights = np.linspace(-0.5, 4.5, 200), np.linspace(0.0, 6.0, 200)
figure, (above, below) = plt.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
above.axvspan(2.0, 4.0, color="0.92", label="feasible")
above.plot(points, points**2)
above.plot(x, program.objective(x), "o", color="C3", label="optimum")
above.set(xlabel="x", ylabel="value", title="objective")
above.legend()
below.plot(weights, [weak_duality(program, x, [w]).dual for w in weights], color="C1")
below.plot(multiplier, program.lower_bound(x, multiplier, None), "o", color="C3")
below.axhline(4.0, color="0.7", lw=1)
below.set(xlabel="multiplier", title="lower bound it proves", ylim=(-3, 17))

# %%
# Water-filling: power is distributed over channels of different noise up to a common level, and channels above the level get none. The
# multiplier of the budget is the marginal value of power.
noise = np.array([0.4, 1.1, 0.7, 2.0, 1.5])
figure, axes = plt.subplots(1, 2, figsize=(9, 3.2), sharey=True, layout="constrained")
for ax, power in zip(axes, (0.8, 3.5), strict=True):
    optimum = WaterFilling(np.diag(noise), power).solve()
    ax.bar(range(5), noise, color="0.75", label="noise")
    ax.bar(range(5), np.diag(optimum.x), bottom=noise, color="C0", label="power")
    ax.axhline(1 / optimum.multipliers[0], color="C3", lw=1)
    ax.set(title=f"budget {power}: multiplier {optimum.multipliers[0]:.2f}", xlabel="channel")
axes[0].set_ylabel("level")
axes[0].legend()
plt.show()
