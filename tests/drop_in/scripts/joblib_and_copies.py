"""Models survive joblib, pickle and deep copies."""

import copy
import io
import pickle

import joblib
import numpy as np
from sklearn.datasets import load_iris
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

X, y = load_iris(return_X_y=True)
for model in (LogisticRegression().fit(X, y), RandomForestClassifier(5, random_state=0).fit(X, y)):
    file = io.BytesIO()
    joblib.dump(model, file)
    file.seek(0)
    for other in (joblib.load(file), pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
        assert np.array_equal(other.predict(X), model.predict(X))
