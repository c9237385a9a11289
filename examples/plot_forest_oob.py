"""
Random forest: is the out-of-bag error a good estimate?
=======================================================

The out-of-bag error of growing forests next to the error on test rows, and the proved bound on the vote.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

from surefit import RandomForestClassifier

X, y = load_breast_cancer(return_X_y=True)
sizes = [20, 40, 80, 160]
oob, test = [], []
for size in sizes:
    model = RandomForestClassifier(size, oob_score=True, random_state=0).fit(X[:400], y[:400])
    oob.append(1 - model.oob_score_)
    test.append(1 - model.score(X[400:], y[400:]))
print(model.certificate_)

figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
axes.plot(sizes, oob, "o-", label="out-of-bag error (an estimate)")
axes.plot(sizes, test, "s-", label="error on 169 test rows")
axes.set(xlabel="trees", ylabel="error", ylim=(0, None))
axes.legend()
plt.show()
