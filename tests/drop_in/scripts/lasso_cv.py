"""The penalty of the lasso by cross-validation, with its path of errors."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LassoCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_diabetes(return_X_y=True)
model = make_pipeline(StandardScaler(), LassoCV(cv=5, alphas=20)).fit(X, y)
lasso = model[-1]
print(lasso.alpha_, lasso.mse_path_.shape, lasso.alphas_[:3])
assert lasso.mse_path_.shape == (20, 5) and lasso.alphas_.min() <= lasso.alpha_ <= lasso.alphas_.max()
