"""The elbow and silhouette pictures show the numbers of the models and of the definition."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import pairwise_distances

from surefit import ElbowDisplay, KMeans, SilhouetteDisplay
from surefit.core.errors import InvalidData

X = load_iris().data


def test_elbow_shows_inertia_and_lower_bound():
    display = ElbowDisplay.from_estimator(KMeans(random_state=0), X, n_clusters=range(1, 5)).plot(show_within=True)
    models = [KMeans(k, random_state=0).fit(X) for k in range(1, 5)]
    assert np.array_equal(display.line_.get_ydata(), [model.inertia_ for model in models])
    assert np.array_equal(display.bound_line_.get_ydata(), [model.lower_bound_ for model in models])
    shares = [model.scatter_.within / model.scatter_.total for model in models]
    assert display.within_line_.get_ydata() == pytest.approx(shares)
    assert shares[0] == pytest.approx(1.0)
    assert display.band_ is not None


def test_elbow_without_bounds():
    display = ElbowDisplay([1, 2], [3.0, 1.0]).plot()
    assert display.bound_line_ is display.band_ is display.within_line_ is None
    with pytest.raises(InvalidData, match=r"lower_bounds must be one per number of clusters, shape \(2,\); got \(1,\)"):
        ElbowDisplay([1, 2], [3.0, 1.0], lower_bounds=[0.5])


def silhouette_by_definition(X, labels):
    D, values = pairwise_distances(X), []
    for i, own in enumerate(labels):
        mine = (labels == own) & (np.arange(len(X)) != i)
        if not mine.any():
            values.append(0.0)
            continue
        a = D[i, mine].mean()
        b = min(D[i, labels == other].mean() for other in set(labels) if other != own)
        values.append((b - a) / max(a, b))
    return np.array(values)


def test_silhouette_is_the_definition_and_draws_every_row():
    rows = X[::10]
    model = KMeans(3, random_state=0).fit(rows)
    display = SilhouetteDisplay.from_estimator(model, rows).plot()
    assert display.values == pytest.approx(silhouette_by_definition(rows, model.labels_))
    assert len(display.bars_) == 3
    assert display.mean_line_.get_xdata()[0] == pytest.approx(display.values.mean())
    extents = [bar.get_paths()[0].get_extents() for bar in display.bars_]
    assert sum(extent.height for extent in extents) == pytest.approx(len(rows))


def test_silhouette_says_what_it_wants():
    with pytest.raises(InvalidData, match="needs from 2 to 149 clusters for 150 rows; got 1"):
        SilhouetteDisplay.from_predictions(X, np.zeros(150))
    with pytest.raises(InvalidData, match="two lists of equal length"):
        SilhouetteDisplay([0.1], [0, 1])
