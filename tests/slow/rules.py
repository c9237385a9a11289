"""Fast rules in scikit-learn's clothes, for thousands of fits in worlds whose risks are known."""

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from tests.slow.worlds import centroid_rule


class Centroid(ClassifierMixin, BaseEstimator):
    """Linear rule between the class means; labels -1 and 1. ``keep`` columns are looked at."""

    def __init__(self, keep=None):
        self.keep = keep

    def fit(self, X, y):
        self.classes_ = np.array([-1.0, 1.0])
        self.w_, self.b_ = centroid_rule(X, y)
        if self.keep is not None:
            self.w_ = np.where(np.arange(len(self.w_)) == self.keep, self.w_, 0.0)
        return self

    def decision_function(self, X):
        return X @ self.w_ + self.b_

    def predict(self, X):
        return np.where(self.decision_function(X) > 0, 1.0, -1.0)


class Smooth(Centroid):
    """The same with probabilities, by a fixed logistic curve."""

    def predict_proba(self, X):
        p = 1 / (1 + np.exp(-3 * self.decision_function(X)))
        return np.column_stack([1 - p, p])


class Nearest(ClassifierMixin, BaseEstimator):
    """One nearest neighbor: remembers every row, and knows a copy of it by heart."""

    def fit(self, X, y):
        self.X_, self.y_, self.classes_ = X, y, np.array([-1.0, 1.0])
        return self

    def predict(self, X):
        return self.y_[np.argmin(((X[:, None, :] - self.X_[None]) ** 2).sum(axis=2), axis=1)]


class Cubic(RegressorMixin, BaseEstimator):
    """Polynomial of a degree on [0, 1]."""

    def __init__(self, degree=3):
        self.degree = degree

    def fit(self, X, y):
        self.curve_ = np.polynomial.Polynomial.fit(X[:, 0], y, self.degree, domain=[0, 1])
        return self

    def predict(self, X):
        return self.curve_(X[:, 0])
