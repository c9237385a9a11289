"""
Audit of a linear SVM: how far is scikit-learn's solution from the optimum?
===========================================================================

scikit-learn's linear support vector machine is stopped after more and more passes. After each, ``certify`` brackets the distance of its
objective from the optimum, and counts the training labels that could change at the exact optimum.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import ConvergenceWarning
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from surefit import certify

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)

passes, excess, labels = [1, 2, 5, 10, 20, 50, 100, 200, 500], [], []
for count in passes:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # what the warning does not say is the subject of this page
        model = LinearSVC(dual=True, max_iter=count, random_state=0).fit(X, y)
    certificate = certify(model, X, y)
    excess.append(certificate["audit.gap"].value)
    labels.append(certificate["audit.labels"].value)

# %%
# The certificate of the last model; ``verify`` re-derives it from the data, independently of both solvers.

print(certificate)
print(certificate.verify(X, y))

# %%
# The labels become certain long before the objective converges. The convergence warning of the solver does not show
# this.

fig, (left, right) = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
left.loglog(passes, excess, "o-")
left.set(xlabel="passes", ylabel="objective above the optimum")
right.semilogx(passes, labels, "o-", color="C1")
right.set(xlabel="passes", ylabel="training labels that could change")
plt.show()
