"""AdaBoost with stumps, stage by stage."""

from sklearn.datasets import make_gaussian_quantiles
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

X, y = make_gaussian_quantiles(n_samples=150, n_features=2, n_classes=2, random_state=1)
model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=1), n_estimators=10, random_state=0).fit(X, y)
scores = list(model.staged_score(X, y))
assert len(scores) == len(model.estimators_) and scores[-1] > scores[0]
