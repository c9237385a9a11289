"""A permutation test of a score."""

from sklearn.datasets import load_iris
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, permutation_test_score

X, y = load_iris(return_X_y=True)
score, permuted, p_value = permutation_test_score(
    LogisticRegression(), X, y, cv=StratifiedKFold(2), n_permutations=9, random_state=0
)
print(score, p_value)
assert p_value == 0.1 and permuted.max() < score
