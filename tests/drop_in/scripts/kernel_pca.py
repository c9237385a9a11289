"""Kernel PCA separates circles."""

from sklearn.datasets import make_circles
from sklearn.decomposition import PCA, KernelPCA
from sklearn.linear_model import LogisticRegression

X, y = make_circles(80, factor=0.3, noise=0.05, random_state=0)
flat = PCA(2).fit_transform(X)
curved = KernelPCA(4, kernel="rbf", gamma=10, fit_inverse_transform=True, alpha=0.1)
Z = curved.fit_transform(X)
assert LogisticRegression().fit(Z, y).score(Z, y) > 0.95 > 0.7 > LogisticRegression().fit(flat, y).score(flat, y)
assert curved.inverse_transform(Z).shape == X.shape
