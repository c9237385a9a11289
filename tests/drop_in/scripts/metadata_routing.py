"""Sample weights routed through a search to fit and score."""

import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV

rng = np.random.RandomState(0)
X = rng.randn(60, 2)
y = (X[:, 0] > 0).astype(int)
with sklearn.config_context(enable_metadata_routing=True):
    model = LogisticRegression().set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
    search = GridSearchCV(model, {"C": [0.1, 1.0]}, cv=3).fit(X, y, sample_weight=rng.rand(60))
assert search.best_score_ > 0.9
