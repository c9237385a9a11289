"""
Convolutional networks: do shared weights recognize digits better?
==================================================================

Five networks of Le Cun (1989) for images of digits, from no hidden layer to two layers of shared weights. The number of free weights falls
from 2570 to 1060. On shifted digits the accuracy increases nevertheless.
"""

# %%
# The digits are those of scikit-learn on a grid of 16 x 16, moved by up to two pixels.
import matplotlib.pyplot as plt
import numpy as np

from surefit import LossCurveDisplay, NetworkDisplay, zip_net
from surefit.bounds import hoeffding
from surefit.data import load_small_digits

digits = load_small_digits(320, 1477, shift=2)
X, y, X_test, y_test, side = digits

figure, axes = plt.subplots(2, 8, figsize=(8, 2.2), layout="constrained")
for row, ax in enumerate(axes.ravel()):
    ax.imshow(digits.picture(row), cmap="gray_r")
    ax.set_axis_off()

# %%
# Three random starts each. Every fit is verified: independent code recomputes the objective and its gradient.
numbers = [1, 2, 3, 4, 5]
accuracy, parameters = [], []
for number in numbers:
    fits = [zip_net(number, random_state=seed).fit(X, y, X_val=X_test, y_val=y_test) for seed in range(3)]
    fits[0].verify(X, y)
    accuracy.append([fit.score(X_test, y_test) for fit in fits])
    parameters.append(fits[0].n_parameters_)
    print(f"network {number}: {parameters[-1]:4d} weights, {100 * np.mean(accuracy[-1]):.1f} % correct")

# %%
# With 1477 test images the accuracy is known to within a few percentage points; with the 160 of the original experiment, to within eleven.
print(
    f"1477 images: +-{100 * hoeffding(n=1477, delta=0.05).radius:.1f}, 160: +-{100 * hoeffding(n=160, delta=0.05).radius:.1f}"
)
figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), layout="constrained")
axes[0].plot(numbers, 100 * np.array(accuracy), "o", color="C0", alpha=0.5)
axes[0].plot(numbers, 100 * np.mean(accuracy, axis=1), color="C0")
axes[0].set(xlabel="network", ylabel="correct, per cent", xticks=numbers)
NetworkDisplay(zip_net(5).architecture(256, 10)).plot(axes[1])
LossCurveDisplay.from_estimator(fits[0]).plot(axes[2])

assert np.mean(accuracy[4]) > np.mean(accuracy[0])
