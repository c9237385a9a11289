"""Frames in, frames out, and columns by type."""

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.decomposition import PCA
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

frame = pd.DataFrame({"age": [20.0, 30, 40, 50, 60, 70], "pay": [1.0, 3, 2, 5, 4, 6], "city": list("ababab")})
y = [0, 0, 0, 1, 1, 1]
columns = ColumnTransformer([("numbers", StandardScaler(), ["age", "pay"]), ("texts", OneHotEncoder(), ["city"])])
assert make_pipeline(columns, LogisticRegression()).fit(frame, y).score(frame, y) > 0.8
out = PCA(2).set_output(transform="pandas").fit_transform(frame[["age", "pay"]])
assert list(out.columns) == ["pca0", "pca1"]
assert LogisticRegression().fit(frame[["age", "pay"]], y).feature_names_in_.tolist() == ["age", "pay"]
