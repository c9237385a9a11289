"""Pictures of support vector machines show what the models say."""

import numpy as np
import pytest

from surefit import SVC, SVR, InvalidData, SVCDisplay, SVCPathDisplay, TubeDisplay, svc_path


def classes(seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 2))
    return X, np.where(X[:, 0] + 0.5 * rng.standard_normal(60) > 0, 1, -1)


def test_boundary_margins_and_rings():
    X, y = classes()
    model = SVC(kernel="linear").fit(X, y)
    display = SVCDisplay.from_estimator(model, X, y).plot()
    assert display.contours_.levels.tolist() == [-1.0, 0.0, 1.0]
    assert np.array_equal(display.support_.get_offsets(), X[model.support_])
    assert len(display.crosses_.get_offsets()) == np.sum(model.predict(X) != y)
    corner = np.array([[display.grid[0][0], display.grid[1][-1]]])
    assert display.scores[-1, 0] == pytest.approx(model.decision_function(corner)[0])
    with pytest.raises(InvalidData, match="two columns"):
        SVCDisplay.from_estimator(SVC().fit(X[:, :1], y), X[:, :1], y)


def test_tube_and_its_rows():
    x = np.linspace(0, 6, 50)
    y = np.sin(x) + 0.2 * np.random.default_rng(0).standard_normal(50)
    model = SVR(C=1.0, epsilon=0.2).fit(x[:, None], y)
    display = TubeDisplay.from_estimator(model, x[:, None], y).plot()
    counts = {kind: len(marks.get_offsets()) for kind, marks in display.scatters_.items()}
    assert counts == {kind: int(np.sum(model.points_ == kind)) for kind in counts} and sum(counts.values()) == 50
    at = display.line_.get_xdata()
    assert display.line_.get_ydata() == pytest.approx(model.predict(at[:, None]))
    with pytest.raises(InvalidData, match="one column"):
        TubeDisplay.from_estimator(model, np.ones((3, 2)), y)


def test_path_never_leaves_the_promised_gap():
    X, y = classes(1)
    path = svc_path(X, y, C_range=(0.1, 10.0), eps=0.05)
    display = SVCPathDisplay(path).plot()
    assert display.lines_["norm"].get_ydata() == pytest.approx(path.norms)
    assert display.lines_["gap"].get_ydata().max() <= 0.05 + 1e-12
    assert display.ax_[0].get_xscale() == "log"
