"""Linear classification and regression by margins."""

from sklearn.datasets import make_blobs, make_regression
from sklearn.svm import LinearSVC, LinearSVR

X, y = make_blobs(40, centers=2, random_state=0)
assert LinearSVC(C=100, loss="hinge", random_state=42).fit(X, y).score(X, y) > 0.9
X, y = make_regression(60, 3, noise=0.1, random_state=0)
assert LinearSVR(C=100, max_iter=100000, random_state=0).fit(X, y).score(X, y) > 0.99
