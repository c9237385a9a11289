"""
Risk bounds: how good are six classifiers on the breast cancer data?
====================================================================

Each classifier withholds some rows from its training, is tested on them once, and states an upper bound on its
probability of error. A third of the rows was withheld from all of them; the crosses show the error there.
"""

from sklearn.datasets import load_breast_cancer
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from surefit import Certified, LinearDiscriminantAnalysis, LinearSVC, LogisticRegression, RiskDisplay

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(X, y, test_size=1 / 3, random_state=1)

# %%
# The scaler is part of the pipeline. Fitted outside, it would have used the withheld rows, and ``Certified`` would state no bound.

families = {
    "logistic regression": LogisticRegression(C=0.1),
    "linear SVM": LinearSVC(C=0.1),
    "discriminant analysis": LinearDiscriminantAnalysis(),
    "RBF SVM": SVC(),
    "random forest": RandomForestClassifier(random_state=0),
    "naive Bayes": GaussianNB(),
}
models = {
    name: Certified(make_pipeline(StandardScaler(), model), random_state=0).fit(X, y)
    for name, model in families.items()
}
print(models["logistic regression"].certificate_)

# %%
# A blue dot is the error on the withheld rows; the blue bar ends at the upper bound with confidence 0.95.

test = [1 - model.score(X_test, y_test) for model in models.values()]
certificates = {name: model.certificate_ for name, model in models.items()}
RiskDisplay.from_certificates(certificates, test=test).plot()
