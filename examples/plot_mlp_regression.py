"""
Neural network: what can four hidden units represent?
=====================================================

Networks with one, four and twenty hidden units are fitted to the same curve. More units bend more often.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from surefit import MLPRegressor

x = np.linspace(-1, 1, 80)[:, None]
y = np.sin(5 * x[:, 0]) * np.exp(-x[:, 0])
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(x, y, "k.")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # a network has no convergence proof
    for units in (1, 4, 20):
        model = MLPRegressor(
            hidden_layer_sizes=(units,), activation="tanh", solver="lbfgs", max_iter=300, random_state=1
        ).fit(x, y)
        axes.plot(x, model.predict(x), label=f"{units} hidden unit" + "s" * (units > 1))
axes.legend()
plt.show()
