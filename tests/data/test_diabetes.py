from sklearn import datasets

from surefit.data import load_diabetes


def test_values_are_those_of_scikit_learn():
    ours, theirs = load_diabetes(), datasets.load_diabetes(scaled=False)
    assert (ours.X == theirs.data).all() and (ours.y == theirs.target).all()


def test_shape_and_names():
    data = load_diabetes()
    assert data.X.shape == (442, len(data.feature_names)) == (442, 10)
    assert len(set(data.feature_names)) == 10 and data.target_name not in data.feature_names
    assert set(data.X[:, data.feature_names.index("sex")]) == {1.0, 2.0}
    assert 18 <= data.X[:, data.feature_names.index("age")].min() <= data.X[:, 0].max() <= 80
