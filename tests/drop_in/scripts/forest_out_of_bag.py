"""Out-of-bag errors of a forest that grows."""

from sklearn.datasets import load_diabetes
from sklearn.ensemble import RandomForestRegressor

X, y = load_diabetes(return_X_y=True)
model = RandomForestRegressor(30, oob_score=True, random_state=0, min_samples_leaf=5).fit(X, y)
print(model.oob_score_)
assert 0.3 < model.oob_score_ < 0.6 and model.oob_prediction_.shape == (442,)
