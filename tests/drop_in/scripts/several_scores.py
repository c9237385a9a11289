"""A search with two scores, refitted by one of them."""

from sklearn.datasets import load_breast_cancer
from sklearn.metrics import accuracy_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.tree import DecisionTreeClassifier

X, y = load_breast_cancer(return_X_y=True)
search = GridSearchCV(
    DecisionTreeClassifier(random_state=0),
    {"max_depth": [1, 3]},
    scoring={"AUC": "roc_auc", "Accuracy": make_scorer(accuracy_score)},
    refit="AUC",
    cv=3,
    return_train_score=True,
)
search.fit(X, y)
assert {"mean_test_AUC", "mean_train_Accuracy", "rank_test_AUC"} <= set(search.cv_results_) and search.best_params_ == {
    "max_depth": 3
}
