"""
k-means: how far is the partition from the best one?
====================================================

The inertia of k-means on iris and a proved lower bound over all partitions, for each number of clusters.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from surefit import KMeans

X = load_iris().data
sizes = range(1, 7)
models = [KMeans(k, random_state=0).fit(X) for k in sizes]

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(sizes, [m.inertia_ for m in models], "o-", label="inertia of k-means")
axes.plot(sizes, [m.lower_bound_ for m in models], "s--", label="no partition is below")
axes.set(xlabel="clusters", ylabel="sum of squared distances")
axes.legend()
plt.show()
