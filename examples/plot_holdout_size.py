"""
Hold-out bounds: how many test rows prove an error below ten percent?
=====================================================================

The upper bound on the error for an observed error of five percent, and the number of rows at which it falls below ten
percent.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit.bounds import clopper_pearson

n = np.arange(20, 1001, 20)
bound = np.array([clopper_pearson(int(m) // 20, int(m)) for m in n])
enough = n[np.argmax(bound <= 0.1)]

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(n, bound, label="upper bound, confidence 0.95")
axes.axhline(0.05, ls=":", c="k", label="observed error")
axes.axvline(enough, ls="--", c="#D55E00", label=f"{enough} rows are enough for 10 %")
axes.set(xlabel="test rows", ylabel="error")
axes.legend()
plt.show()
