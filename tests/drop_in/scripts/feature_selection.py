"""Selection of columns by coefficients, recursively and in sequence."""

from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.feature_selection import RFE, SelectFromModel, SequentialFeatureSelector
from sklearn.linear_model import LassoCV, RidgeCV
from sklearn.svm import SVR

X, y = make_friedman1(n_samples=60, n_features=10, random_state=0)
assert RFE(SVR(kernel="linear"), n_features_to_select=5, step=1).fit(X, y).support_.sum() == 5
X, y = load_diabetes(return_X_y=True)
assert 1 <= SelectFromModel(LassoCV(cv=3, alphas=10), max_features=3).fit(X, y).get_support().sum() <= 3
assert SequentialFeatureSelector(RidgeCV(), n_features_to_select=2, cv=2).fit(X, y).get_support().sum() == 2
