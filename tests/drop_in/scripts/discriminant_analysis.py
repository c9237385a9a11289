"""Linear and quadratic discriminants of Gaussian classes."""

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis

rng = np.random.RandomState(0)
X = np.r_[rng.randn(50, 2), rng.randn(50, 2) @ [[2, 0], [1, 0.5]] + [3, 2]]
y = np.repeat([0, 1], 50)
lda = LinearDiscriminantAnalysis(solver="svd", store_covariance=True).fit(X, y)
qda = QuadraticDiscriminantAnalysis(store_covariance=True).fit(X, y)
assert lda.transform(X).shape == (100, 1) and lda.covariance_.shape == (2, 2)
assert qda.score(X, y) >= lda.score(X, y) - 0.02 > 0.9
