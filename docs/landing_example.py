from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from surefit import LogisticRegression, risk_certificate

X, y = load_breast_cancer(return_X_y=True)
X, X_new, y, y_new = train_test_split(X, y, random_state=0)
model = LogisticRegression().fit(X, y)  # scikit-learn's interface
print(model.certificate_)  # what the fit claims
print(model.verify(X, y))  # what an independent checker proves
print(risk_certificate(model, X_new, y_new)["risk.holdout"].statement)
