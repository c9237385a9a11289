"""Clones, parameters and representations of estimators."""

from sklearn.base import clone
from sklearn.linear_model import Lasso, LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

pipe = make_pipeline(StandardScaler(), SVC(C=2.0))
pipe.set_params(svc__C=5.0)
assert clone(pipe)["svc"].C == 5.0 and pipe.get_params()["svc__gamma"] == "scale"
assert "C=5.0" in repr(pipe) and "svc" in pipe._repr_html_().lower()
assert clone(Lasso(alpha=0.3)).alpha == 0.3 and LogisticRegression().get_params()["C"] == 1.0
