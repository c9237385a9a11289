"""Texts as sparse counts, classified by three linear models."""

from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier, SGDClassifier
from sklearn.pipeline import make_pipeline

texts = ["red apple", "green apple", "ripe pear", "fast car", "old car", "new truck"] * 5
labels = ["fruit"] * 3 + ["vehicle"] * 3
for model in (LogisticRegression(), RidgeClassifier(), SGDClassifier(random_state=0)):
    for words in (CountVectorizer(), TfidfVectorizer()):
        pipe = make_pipeline(words, model).fit(texts, labels * 5)
        assert pipe.predict(["green pear", "fast truck"]).tolist() == ["fruit", "vehicle"]
