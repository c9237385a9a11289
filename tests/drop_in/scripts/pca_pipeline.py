"""Principal components before a logistic regression, chosen together."""

from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import StandardScaler

X, y = load_digits(n_class=3, return_X_y=True)
pipe = Pipeline(
    [("scaler", StandardScaler()), ("pca", PCA()), ("logistic", LogisticRegression(max_iter=10000, tol=0.1))]
)
search = GridSearchCV(pipe, {"pca__n_components": [2, 5], "logistic__C": [0.1, 1]}, cv=2).fit(X[:200], y[:200])
assert (
    search.best_estimator_["pca"].n_components_ == search.best_params_["pca__n_components"] and search.best_score_ > 0.7
)
