"""A pipeline that shares one graph of neighbors among several numbers of them."""

from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsClassifier, KNeighborsTransformer
from sklearn.pipeline import Pipeline

X, y = load_digits(n_class=4, return_X_y=True)
X, y = X[:200], y[:200]
pipeline = Pipeline(
    [
        ("graph", KNeighborsTransformer(n_neighbors=12, mode="distance")),
        ("classifier", KNeighborsClassifier(metric="precomputed")),
    ]
)
search = GridSearchCV(pipeline, {"classifier__n_neighbors": [1, 3, 9]}, cv=3).fit(X, y)
assert search.best_score_ > 0.95
