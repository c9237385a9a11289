"""
VC bounds: when are they informative?
=====================================

The radius of the VC inequality as a function of the sample size, for three dimensions. Above one half a bound on the
error is vacuous.
"""

import matplotlib.pyplot as plt
import numpy as np

from surefit.bounds import vc

n = np.unique(np.geomspace(100, 1e6, 40).astype(int))
figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
for dimension in (3, 11, 101):
    axes.loglog(n, [vc(dimension, n=int(m), delta=0.05).radius for m in n], label=f"dimension {dimension}")
axes.axhline(0.5, ls=":", c="k")
axes.set(xlabel="rows", ylabel="radius, confidence 0.95", title="Above the dotted line the bound says nothing")
axes.legend()
plt.show()
