"""K-means on Dask collections: the steps of one machine, the same bits for any scheduler, claims that two passes re-derive."""

import dask
import dask.array as da
import numpy as np
import pytest

from surefit import KMeans
from surefit.cluster import DaskRows, rows_of
from surefit.core.errors import CertificateError, ConvergenceWarning, DataWarning, InvalidParameter
from surefit.core.partitioned import ClusterLost
from surefit.solvers.clustering.partitions import InPartitions

RNG = np.random.default_rng(0)
CENTERS = RNG.normal(scale=6.0, size=(4, 5))
X = CENTERS[RNG.integers(4, size=600)] + RNG.normal(size=(600, 5)) + 50.0
S = RNG.uniform(0.5, 3.0, size=600)
GIVEN = {"n_clusters": 4, "init": X[:4], "single_moves": False}


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


@pytest.mark.parametrize("parts", [1, 3, 7])
@pytest.mark.parametrize("tol", [0.0, 1e-4])
def test_steps_are_those_of_one_machine(parts, tol):
    model = KMeans(**GIVEN, tol=tol).fit(chunked(X, parts), sample_weight=chunked(S, parts))
    memory = KMeans(**GIVEN, tol=tol).fit(X, sample_weight=S)
    np.testing.assert_allclose(model.cluster_centers_, memory.cluster_centers_, rtol=1e-13)
    assert model.inertia_ == pytest.approx(memory.inertia_, rel=1e-12)
    assert model.lower_bound_ == pytest.approx(memory.lower_bound_, rel=1e-9) and model.lower_bound_ > 0
    np.testing.assert_allclose(model.cluster_sizes_, memory.cluster_sizes_, rtol=1e-13)
    assert np.array_equal(model.predict(chunked(X, parts)).compute(), memory.labels_)
    assert not hasattr(model, "labels_")
    labels = KMeans(**GIVEN, tol=tol).fit_predict(chunked(X, parts), sample_weight=S)
    assert np.array_equal(labels.compute(), memory.labels_)
    assert model.n_iter_ == memory.n_iter_
    found = model.verify(chunked(X, 5), sample_weight=chunked(S, 5))
    assert {f.name for f in found.findings} == {
        "k_means.gap",
        "k_means.means",
        "k_means.single_move",
        "k_means.inertia",
    }
    model.verify(X, sample_weight=S)  # rows in memory are one partition
    memory.verify(chunked(X, parts), sample_weight=chunked(S, parts))
    for name in ("gap", "means", "single_move", "inertia"):
        ours, theirs = (m.certificate_[f"k_means.{name}"].value for m in (model, memory))
        assert ours == pytest.approx(theirs, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("init", ["k-means++", "random"])
def test_starts_by_passes_find_the_clusters_and_have_the_same_bits(init):
    with dask.config.set(scheduler="synchronous"):
        model = KMeans(4, init=init, random_state=3).fit(chunked(X, 7))
    memory = KMeans(4, n_init=10, random_state=0).fit(X)
    assert model.inertia_ == pytest.approx(memory.inertia_, rel=1e-3)
    for workers in (1, 2, 4):
        with dask.config.set(scheduler="threads", num_workers=workers):
            again = KMeans(4, init=init, random_state=3).fit(chunked(X, 7))
        assert again.cluster_centers_.tobytes() == model.cluster_centers_.tobytes()
        assert again.inertia_ == model.inertia_
        assert [c.value for c in again.certificate_.claims] == [c.value for c in model.certificate_.claims]


def test_draws_do_not_depend_on_the_partitions():
    starts = [
        InPartitions(rows_of("test", chunked(X, parts))).k_means_parallel(4, np.random.RandomState(0))
        for parts in (1, 3, 7)
    ]
    for start in starts[1:]:
        np.testing.assert_allclose(start, starts[0], rtol=1e-12)
    drawn = [
        InPartitions(rows_of("test", chunked(X, p))).distinct_points(5, np.random.RandomState(0)) for p in (1, 3, 7)
    ]
    assert all(np.array_equal(d, drawn[0]) for d in drawn)
    assert len(np.unique(drawn[0], axis=0)) == 5


def test_draws_follow_the_weights():
    rows = np.repeat(np.eye(3), [1, 2, 3], axis=0)
    weights = np.array([2.0, 0.5, 0.5, 1.0, 0.0, 0.0])  # 2 : 1 : 1
    points = InPartitions(rows_of("test", chunked(rows, 3), None, chunked(weights, 3)))
    first = np.zeros(3)
    for seed in range(400):
        first += points.draw(1, np.random.RandomState(seed))[0]
    assert np.all(np.abs(first / 400 - [0.5, 0.25, 0.25]) < 4 * np.sqrt(0.25 / 400))


@pytest.mark.parametrize("parts", [1, 4])
def test_empty_clusters_move_to_the_farthest_rows(parts):
    start = np.vstack([X[:2], np.full((2, 5), 1e4), np.full((1, 5), -1e4)])
    options = {"n_clusters": 5, "init": start, "single_moves": False}
    model, memory = KMeans(**options).fit(chunked(X, parts)), KMeans(**options).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, memory.cluster_centers_, rtol=1e-13)
    assert model.certificate_.run["reseeded"] == memory.certificate_.run["reseeded"] == 3
    with pytest.warns(DataWarning, match="only 2 distinct rows"):
        few = KMeans(3, random_state=0).fit(chunked(np.repeat([[0.0, 1.0], [2.0, 3.0]], 20, axis=0), parts))
    assert few.inertia_ == 0.0


def test_a_heavy_row_among_light_ones():
    weights = np.full(600, 1e-9)
    weights[[5, 400]] = 1e9
    model = KMeans(**GIVEN).fit(chunked(X, 7), sample_weight=chunked(weights, 7))
    memory = KMeans(**GIVEN).fit(X, sample_weight=weights)
    ours, theirs = (m.certificate_["k_means.single_move"].value for m in (model, memory))
    assert ours == pytest.approx(theirs, rel=1e-6)
    model.verify(X, sample_weight=weights)


@pytest.mark.parametrize("change", ["center", "inertia", "data", "claim"])
def test_verify_refuses_what_was_changed(change):
    model = KMeans(**GIVEN).fit(chunked(X, 3))
    rows = X.copy()
    if change == "center":
        model.cluster_centers_[0, 0] += 1e-9
    elif change == "inertia":
        model.inertia_ *= 1 + 1e-12
    elif change == "data":
        rows[333, 1] += 1e-9
    else:
        from dataclasses import replace

        certificate = model.certificate_
        claims = tuple(replace(c, value=c.value * 0.5) if c.name == "k_means.gap" else c for c in certificate.claims)
        model._certificate = replace(certificate, claims=claims, seal="")
    with pytest.raises(CertificateError):
        model.verify(chunked(rows, 3))


def test_float32_rows_and_a_target_that_is_ignored():
    single = X.astype(np.float32)
    model = KMeans(**GIVEN).fit(chunked(single, 3), chunked(S, 3))
    assert model.cluster_centers_.dtype == np.float32
    np.testing.assert_allclose(model.cluster_centers_, KMeans(**GIVEN).fit(single).cluster_centers_, rtol=1e-6)
    model.verify(chunked(single, 3))
    assert model.cluster_["passes"] > 3 and model.cluster_["bytes_to_client"] < X.nbytes * model.cluster_["passes"] / 10


def test_a_time_limit_leaves_a_certified_model():
    with pytest.warns(ConvergenceWarning, match="max_time"):
        model = KMeans(4, random_state=0, max_time=1e-9, n_init=3).fit(chunked(X, 3))
    assert model.n_iter_ == 1 and model.certificate_.run["reason"] == "max_time"
    model.verify(chunked(X, 3))


def test_parquet_files(tmp_path):
    import pandas as pd

    for i in range(3):
        pd.DataFrame(X[200 * i : 200 * i + 200], columns=list("abcde")).to_parquet(tmp_path / f"{i}.parquet")
    model = KMeans(**GIVEN).fit(str(tmp_path))
    assert model.feature_names_in_.tolist() == list("abcde")
    assert model.cluster_centers_.tobytes() == KMeans(**GIVEN).fit(chunked(X, 3)).cluster_centers_.tobytes()
    model.verify(str(tmp_path))


def test_a_lost_cluster_leaves_the_last_centers(monkeypatch):
    pass_over, calls = DaskRows.map_reduce, []

    def fails(self, *args, **kwargs):
        calls.append(1)
        if len(calls) > 6:  # summary of the rows, mean, squares, three steps
            raise ClusterLost("no worker is left")
        return pass_over(self, *args, **kwargs)

    monkeypatch.setattr(DaskRows, "map_reduce", fails)
    with pytest.raises(
        ClusterLost, match="KMeans: no worker is left; the best point so far is in the error's best"
    ) as caught:
        KMeans(**GIVEN, tol=0.0).fit(chunked(X, 3))
    assert caught.value.best["cluster_centers_"].shape == (4, 5)


@pytest.mark.parametrize(
    "options", [{"single_moves": True}, {"lower_bound": "sdp"}, {"algorithm": "exact"}, {"init": lambda *a, **k: None}]
)
def test_options_that_need_rows_in_memory(options):
    with pytest.raises(InvalidParameter, match="for rows in partitions"):
        KMeans(4, **options).fit(chunked(X, 3))
