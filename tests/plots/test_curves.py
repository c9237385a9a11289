"""Pictures of curves and structures show the numbers they were given."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

from surefit import (
    Certified,
    ConformalClassifier,
    CurveDisplay,
    InvalidData,
    RiskDisplay,
    StructuralRiskMinimizer,
    StructureDisplay,
)
from surefit.risk.losses import Loss
from surefit.selection.curves import Curve

LOSS = Loss("zero_one", "predict", False)


def curve(kind):
    train, test = np.array([0.4, 0.2, 0.0]), np.array([0.42, 0.25, 0.4])
    return Curve(kind, "depth", (10, 20, 40), train, test, np.full(3, 0.05), LOSS)


@pytest.mark.parametrize("kind", ["complexity", "learning"])
def test_curve(kind):
    display = CurveDisplay(curve(kind)).plot()
    assert np.allclose(display.test_line_.get_ydata(), [0.42, 0.25, 0.4])
    assert np.allclose(display.train_line_.get_ydata(), [0.4, 0.2, 0.0])
    places = display.test_line_.get_xdata()
    assert np.allclose(places, [10, 20, 40] if kind == "learning" else [0, 1, 2])
    words = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert "overfits" in words and display.ax_.get_ylabel() == "probability of error"


def test_structure():
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=(500, 2))
    y = (X[:, 0] ** 2 + X[:, 1] ** 2 < 0.6).astype(int)
    model = StructuralRiskMinimizer().fit(X, y)
    display = StructureDisplay.from_estimator(model, names=["line", "conic", "cubic"]).plot()
    assert np.allclose(display.sum_line_.get_ydata(), model.table_.sums)
    assert np.allclose(display.radius_line_.get_ydata() + display.error_line_.get_ydata(), model.table_.sums)
    assert display.choice_.get_xdata()[0] == model.best_index_
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["line", "conic", "cubic"]


def test_risks():
    X, y = load_breast_cancer(return_X_y=True)
    models = {"tree": DecisionTreeClassifier(max_depth=2, random_state=0), "Bayes": GaussianNB()}
    fits = {name: Certified(model, random_state=0).fit(X, y) for name, model in models.items()}
    display = RiskDisplay.from_certificates({n: m.certificate_ for n, m in fits.items()}, test=[0.1, 0.1]).plot()
    assert np.allclose(display.proved, [m.risk_bound_ for m in fits.values()])
    assert np.allclose(display.dots_.get_xdata(), display.measured) and np.all(display.measured < display.proved)
    assert display.label == "probability of error" and display.ticks_ is not None and not display.vacuous.any()
    assert [bar.get_width() for bar in display.bars_] == pytest.approx(display.proved - display.measured)
    with pytest.raises(InvalidData, match="does not bound a mean loss"):
        RiskDisplay.from_certificates(
            {"sets": ConformalClassifier(GaussianNB(), random_state=0).fit(X, y).certificate_}
        )
    brier = Certified(GaussianNB(), by="progressive", random_state=0).fit(X, y).certificate_
    with pytest.raises(InvalidData, match="different losses"):
        RiskDisplay.from_certificates({"a": brier, "b": fits["tree"].certificate_})
    with pytest.raises(InvalidData, match="2 of each"):
        RiskDisplay(["a", "b"], [0.1], [0.2])
