"""Windows, sharing, and the link and weight counts of the five ZIP-code networks."""

import numpy as np
import pytest
from scipy.signal import correlate2d

from surefit import InvalidParameter, MLPClassifier, MLPRegressor, local_links, zip_net
from surefit.data import load_small_digits

unfinished = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.parametrize(
    "number, links, weights",
    [(1, 2570, 2570), (2, 3214, 3214), (3, 1226, 1226), (4, 2266, 1132), (5, 5194, 1060)],
)
def test_counts_of_the_notes(number, links, weights):
    net = zip_net(number).architecture(256, 10)
    assert (net.n_links, net.n_parameters) == (links, weights)


def test_counts_term_by_term():
    assert 12 * 257 + 10 * 13 == 3214
    assert 64 * 10 + 16 * 26 + 170 == 1226
    assert 128 * 10 + 16 * 51 + 170 == 2266 and (18 + 128) + 816 + 170 == 1132
    assert 1280 + 64 * 51 + 650 == 5194 and 146 + (200 + 64) + 650 == 1060
    layers = zip_net(5).architecture(256, 10)
    assert [layers.weights_of(k) for k in range(3)] == [18, 200, 640]


def test_every_window_is_a_square_inside_the_picture_and_every_pixel_is_seen():
    table = local_links((16, 16), 3, (8, 8))
    for unit in range(64):
        rows, columns = np.nonzero(table[:, unit].reshape(16, 16) >= 0)
        assert len(rows) == 9 and np.ptp(rows) == np.ptp(columns) == 2
    assert (table >= 0).any(axis=1).all()
    assert len({tuple(np.flatnonzero(column >= 0)) for column in table.T}) == 64


def test_shared_windows_of_every_shift_are_a_convolution():
    rng = np.random.default_rng(0)
    picture, kernels = rng.standard_normal((2, 6, 5)), rng.standard_normal((3, 2, 3, 3))
    table = local_links((6, 5), 3, (4, 3), maps=2, out_maps=3, shared=True)
    matrix = np.where(table >= 0, kernels.ravel()[table], 0.0)
    expected = [sum(correlate2d(picture[m], kernel[m], "valid") for m in range(2)) for kernel in kernels]
    assert picture.ravel() @ matrix == pytest.approx(np.ravel(expected), abs=1e-12)


def test_one_unit_looks_at_the_middle():
    assert np.flatnonzero(local_links((5, 5), 3, (1, 1))[:, 0] >= 0).tolist() == [6, 7, 8, 11, 12, 13, 16, 17, 18]


@pytest.mark.parametrize("window, out", [(0, (2, 2)), (7, (2, 2)), (3, (0, 2))])
def test_impossible_windows(window, out):
    with pytest.raises(InvalidParameter, match="local_links"):
        local_links((6, 6), window, out)
    with pytest.raises(InvalidParameter, match="number must be 1, 2, 3, 4 or 5"):
        zip_net(6)


@unfinished
@pytest.mark.parametrize("options", [{}, {"solver": "lbfgs"}, {"solver": "sgd"}])
def test_links_hold_exactly_after_training_and_are_verified(options):
    X, y, *_ = load_small_digits(60, 1)
    model = zip_net(5, max_iter=3, random_state=0, **options).fit(X, y)
    verified = model.verify(X, y)
    assert verified["network.links"].level == "exact" and verified["network.links"].ok
    assert (model.n_links_, model.n_parameters_) == (5194, 1060)
    assert len(np.unique(model.coefs_[0][model.coefs_[0] != 0])) == 18
    assert "network.output_gap" not in [claim.name for claim in model.certificate_.claims]  # not convex


def test_a_mask_is_the_same_as_leaving_columns_out():
    rng = np.random.default_rng(2)
    X = rng.standard_normal((80, 5))
    y = X[:, 0] - 2 * X[:, 1] + 0.1 * rng.standard_normal(80)
    options = {"hidden_layer_sizes": (), "solver": "lbfgs", "tol": 1e-7, "max_iter": 1000, "random_state": 0}
    masked = MLPRegressor(links=[np.arange(5)[:, None] < 3], **options).fit(X, y)
    short = MLPRegressor(**options).fit(X[:, :3], y)
    assert masked.coefs_[0][:3] == pytest.approx(short.coefs_[0], abs=1e-6)
    assert not masked.coefs_[0][3:].any()


def test_tied_weights_are_a_sum_of_columns_decayed_once():
    rng = np.random.default_rng(3)
    X = rng.standard_normal((80, 3))
    y = (X.sum(axis=1) + rng.standard_normal(80) > 0).astype(int)
    options = {
        "hidden_layer_sizes": (),
        "solver": "lbfgs",
        "tol": 1e-7,
        "max_iter": 1000,
        "random_state": 0,
        "alpha": 5.0,
    }
    tied = MLPClassifier(links=[np.zeros((3, 1), int)], **options).fit(X, y)
    summed = MLPClassifier(**options).fit(X.sum(axis=1, keepdims=True), y)
    assert tied.coefs_[0].ravel() == pytest.approx(np.repeat(summed.coefs_[0], 3), abs=1e-5)
    assert tied.certificate_["network.output_gap"].value < 1e-8


def test_identifiable_parameters_of_softmax_outputs():
    assert zip_net(1).architecture(256, 10).n_identifiable == 2570 - 257 == 2313
    m, d, K = 12, 256, 10
    assert zip_net(2).architecture(d, K).n_identifiable == m * (d + 1) + (K - 1) * (m + 1)
