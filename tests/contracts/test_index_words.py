"""Where a course and a library use two words for one thing, the index of the guide leads from both to the same page."""

import re
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs" / "guide"
PAIRS = [
    ("weight decay", "ridge regression"), ("offset", "intercept"), ("hat matrix", "smoother matrix"), ("OLS", "least squares"),
    ("relative entropy", "Kullback-Leibler divergence"), ("MAP", "maximum a posteriori"), ("MLE", "maximum likelihood"),
    ("information gain", "mutual information"), ("qualitative attributes", "categorical features"), ("sigmoid", "logistic function"),
    ("log loss", "cross-entropy"), ("step size", "learning rate"), ("weak learner", "base estimator"),
    ("bootstrap aggregation", "bagging"), ("EM algorithm", "expectation maximization"), ("growth function", "shatter coefficient"),
    ("Kolmogorov-Smirnov distance", "DKW inequality"), ("Gram matrix", "kernel matrix"), ("Gaussian kernel", "RBF kernel"),
    ("regularized least squares", "kernel ridge regression"), ("kriging", "Gaussian process"), ("Wiener process", "Brownian motion"),
    ("evidence", "marginal likelihood"), ("k-NN", "nearest neighbors"), ("regressogram", "binning estimator"),
    ("squashing function", "activation function"), ("SVM", "SVC"), ("lambda", "alpha"), ("SVR", "support vector regression"),
    ("semiparametric model", "unpenalized functions"), ("true risk", "generalization error"), ("LOOCV", "leave-one-out error"),
]  # fmt: skip


def index_words(page: Path) -> set[str]:
    return set(re.findall(r"^   single: (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE))


@pytest.mark.parametrize("student, practitioner", PAIRS)
def test_both_words_lead_to_one_page(student, practitioner):
    assert any({student, practitioner} <= index_words(page) for page in GUIDE.glob("*.rst"))


def test_every_page_of_models_has_words():
    without = {"index", "command_line"}
    assert [page.stem for page in GUIDE.glob("*.rst") if page.stem not in without and not index_words(page)] == []
