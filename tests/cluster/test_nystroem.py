"""Kernel machines on landmarks over partitions: landmarks, problem and claims of one machine, and the same bits for any partitions."""

from dataclasses import replace

import dask
import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone

from surefit import Certified, KernelRidge, NystroemLogisticRegression, NystroemRidge, NystroemSVC
from surefit.checks.kernels.landmarks import group_length
from surefit.core.errors import CertificateError, ConvergenceWarning, Invalidated, InvalidData, InvalidParameter
from surefit.kernels import RBF, Matern, Noise, gamma_of
from surefit.operators.aligned import LENGTH, aligned

RNG = np.random.default_rng(0)
N = 240
X = RNG.normal(size=(N, 3)) * [1.0, 2.0, 0.5] + [0.0, 3.0, 0.0]
SCORE = (2 * X[:, 0] - X[:, 1] + 3) * X[:, 2] + 0.3 * RNG.normal(size=N)
NUMBERS, LABELS, THREE = np.sin(SCORE), np.where(SCORE > 0, "a", "b"), np.digitize(SCORE, [-0.5, 0.5])
S = RNG.random(N) * (RNG.random(N) > 0.1)  # no sums of these are exact, and some rows have no weight
FEW = {"n_landmarks": 25, "random_state": 0}
CASES = [
    (NystroemRidge(0.1, **FEW), NUMBERS),
    (NystroemRidge(kernel="laplacian", landmarks="uniform", fit_intercept=False, **FEW), NUMBERS),
    (NystroemRidge(kernel=RBF(gamma=0.1) + 0.5 * Matern(2.0), dual="bounded", **FEW), NUMBERS),
    (NystroemSVC(class_weight="balanced", **FEW), LABELS),
    (NystroemSVC(100.0, fit_intercept=False, **FEW), LABELS),
    (NystroemSVC(10.0, **FEW), THREE),
    (NystroemLogisticRegression(class_weight="balanced", **FEW), LABELS),
    (NystroemLogisticRegression(10.0, kernel="poly", gamma=0.01, degree=2, **FEW), THREE),
    (NystroemLogisticRegression(multi_class="ovr", fit_intercept=False, **FEW), THREE),
]
NAMES = ("nystroem.exact_gap", "nystroem.distance", "nystroem.gap")


@pytest.fixture(autouse=True)
def one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


def chunked(array, parts):
    return None if array is None else da.from_array(array, chunks=(-(-len(array) // parts), *array.shape[1:]))


def fitted(model, y, parts, weights=None, rows=X):
    return clone(model).fit(chunked(rows, parts), chunked(y, parts), chunked(weights, parts))


def bits(model):
    numbers = (model.dual_coef_, np.asarray(model.intercept_), model.landmarks_, np.asarray(model.objective_))
    return tuple(value.tobytes() for value in numbers), repr(model.certificate_.claims), repr(model.kernel_)


@pytest.mark.parametrize(("model", "y"), CASES, ids=[str(model)[:40] for model, _ in CASES])
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
def test_agrees_with_the_fit_in_memory_and_verifies_both_ways(model, y, weights):
    memory, models = clone(model).fit(X, y, weights), [fitted(model, y, parts, weights) for parts in (1, 3, 7)]
    assert len(set(map(bits, models))) == 1
    found = models[1]
    assert np.array_equal(found.landmarks_, memory.landmarks_) and repr(found.kernel_) == repr(memory.kernel_)
    excess = memory.subset_gap_ + found.subset_gap_
    assert abs(memory.objective_ - found.objective_) <= excess + 1e-12 * memory.objective_
    assert found.certificate_["nystroem.gap"].holds and found.dual_gap_ <= 1.05 * memory.dual_gap_ + excess
    assert all(value.nbytes < 100 for value in found.certificate_.claims[0].witness.values())  # nothing per row
    elsewhere = found.verify(chunked(X, 5), chunked(y, 5), chunked(weights, 5))
    here = found.verify(X, y, weights)
    for name in NAMES:
        assert elsewhere[name].level == "enclosed" and elsewhere[name].proved == here[name].proved
    predicted = found.predict(chunked(X, 4))
    assert isinstance(predicted, da.Array)
    if y.dtype.kind == "f":
        np.testing.assert_allclose(predicted.compute(), found.predict(X), rtol=1e-10)
    else:
        assert np.array_equal(predicted.compute(), found.predict(X))
        assert found.decision_function(chunked(X, 4)).compute().shape == found.decision_function(X).shape


def test_the_gap_is_an_upper_bound_on_the_distance_to_the_exact_problem():
    model = fitted(NystroemRidge(0.5, gamma=0.3, n_landmarks=100, random_state=0), NUMBERS, 3)
    exact = KernelRidge(0.5, kernel="rbf", gamma=0.3, fit_intercept=True).fit(X, NUMBERS)
    assert 0 <= model.objective_ - exact.objective_ <= model.dual_gap_ < 0.2 * model.objective_


@pytest.mark.parametrize("cls", [NystroemRidge, NystroemSVC, NystroemLogisticRegression])
def test_the_same_bits_for_several_aligned_partitions_and_any_workers(cls):
    rows = RNG.normal(size=(2 * LENGTH + 500, 2))
    y = (rows[:, 0] * rows[:, 1] > 0.2 * RNG.normal(size=len(rows))).astype(float)
    model, found = cls(n_landmarks=8, gamma=0.5, dual="bounded", random_state=1), []
    for parts, workers in ((1, 1), (3, 2), (7, 4)):
        with dask.config.set(scheduler="threads", num_workers=workers):
            found.append(fitted(model, y, parts, rows=rows))
    assert len(set(map(bits, found))) == 1 and found[0].cluster_["passes"] > 5
    proved = found[1].verify(rows, y)["nystroem.exact_gap"].proved
    assert proved == found[2].verify(chunked(rows, 4), chunked(y, 4))["nystroem.exact_gap"].proved
    assert np.array_equal(found[0].landmarks_, clone(model).fit(rows, y).landmarks_)


def test_aligned_partitions_have_the_rows_in_their_order():
    from surefit.cluster import rows_of

    rows = rows_of("test", chunked(X, 7), chunked(LABELS, 7), chunked(S, 7)).aligned(50)
    assert rows.lengths == (50, 50, 50, 50, 40) == aligned(X, None, None, 50).lengths
    for start, part in enumerate(dask.compute(*(rows.part(i) for i in range(5)))):
        own = slice(50 * start, 50 * start + 50)
        assert part.start == 50 * start and np.array_equal(part.X, X[own])
        assert np.array_equal(part.y, LABELS[own]) and np.array_equal(part.weights, S[own])


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e160, 1e300])
@pytest.mark.parametrize("weights", [None, S], ids=["plain", "weighted"])
def test_gamma_is_the_one_of_rows_in_memory(scale, weights):
    from surefit.cluster import rows_of

    table = RNG.normal(size=(N, 3)) * scale * [1.0, 10.0, 0.01] + scale
    for parts in (1, 3, 7):
        rows = rows_of("test", chunked(table, parts), chunked(LABELS, parts), chunked(weights, parts))
        assert gamma_of("scale", rows) == gamma_of("scale", table, weights=weights)


@pytest.mark.parametrize(("model", "y"), [CASES[0], CASES[3], CASES[7]], ids=["ridge", "hinge", "softmax"])
def test_forged_certificates_are_refused(model, y):
    honest = fitted(model, y, 3).certificate_
    places = (chunked(X, 2), chunked(y, 2)), (X, y)
    first, second, third, *others = honest.claims
    proved = honest.verify(X, y)
    for index, claim in enumerate((first, second, third)):
        claims = list(honest.claims)
        claims[index] = replace(claim, value=(1 - 1e-12) * proved[claim.name].proved)
        for rows in places:
            with pytest.raises(CertificateError, match=claim.name):
                replace(honest, claims=tuple(claims), seal="", subject=None).verify(*rows)
    witness = first.witness
    for changed in ({"rank": np.asarray(26)}, {"width": np.full(3, np.nan)}, {"width": witness["width"] + 100.0}):
        if model.__class__ is not NystroemSVC and changed.get("width", np.zeros(2)).shape == witness["width"].shape:
            continue  # smooth losses have no width
        claims = (replace(first, witness={**witness, **changed}), second, third, *others)
        for rows in places:
            with pytest.raises(CertificateError):
                replace(honest, claims=claims, seal="", subject=None).verify(*rows)
    for name, changed in (
        ("dual_coef_", 1.01 * honest.model["dual_coef_"]),
        ("landmarks_", honest.model["landmarks_"][::-1]),
        ("landmarks_", (honest.model["landmarks_"] + 1) % N),
    ):
        with pytest.raises(CertificateError):
            forged = replace(honest, model={**honest.model, name: changed}, seal="", subject=None)
            forged.verify(chunked(X, 2), chunked(y, 2))


def test_other_rows_and_changed_landmarks_are_refused():
    model, other = fitted(CASES[0][0], NUMBERS, 3), X.copy()
    other[100, 1] += 1e-9
    with pytest.raises(Invalidated, match="X differ"):
        model.verify(chunked(other, 3), chunked(NUMBERS, 3))
    model.X_fit_ = model.X_fit_ + 1e-9
    with pytest.raises(CertificateError, match="X_fit_"):
        model.verify(chunked(X, 3), chunked(NUMBERS, 3))


def test_a_dual_point_with_a_number_per_row_is_read_in_memory_only():
    memory = clone(CASES[3][0]).fit(X, LABELS)
    with pytest.raises(CertificateError, match="one number per row and is read with the rows in memory only"):
        memory.verify(chunked(X, 3), chunked(LABELS, 3))


@pytest.mark.parametrize("limit", [{"max_iter": 1}, {"max_time": 1e-9}], ids=["steps", "time"])
def test_the_gap_of_a_fit_that_stopped_early_is_true(limit):
    best = clone(CASES[6][0]).fit(X, LABELS)
    with pytest.warns(ConvergenceWarning, match="NystroemLogisticRegression"):
        model = fitted(clone(CASES[6][0]).set_params(**limit), LABELS, 3)
    claim = model.certificate_["nystroem.gap"]
    assert not claim.holds and model.objective_ - best.objective_ <= claim.value
    assert model.certificate_.run["reason"] == next(iter(limit)) and model.verify(X, LABELS)["nystroem.gap"].ok


def test_parameters_that_need_rows_in_memory_are_named():
    with pytest.raises(InvalidParameter, match="NystroemSVC: dual must be 'auto' or 'bounded' for rows in partitions"):
        fitted(NystroemSVC(dual="exact"), LABELS, 3)
    with pytest.raises(InvalidParameter, match="kernel must be a kernel of vectors for rows in partitions"):
        fitted(NystroemRidge(kernel="precomputed"), NUMBERS, 3)
    with pytest.raises(InvalidParameter, match="a positive semidefinite kernel"):
        fitted(NystroemRidge(kernel="sigmoid"), NUMBERS, 3)
    with pytest.raises(InvalidData, match="NystroemRidge: some kernel values are not finite"):
        fitted(NystroemRidge(kernel="poly", gamma=1e150, degree=3), NUMBERS, 3)


@pytest.mark.parametrize(
    ("rows", "kernel"),
    [
        (np.zeros((N, 2)), "linear"),
        (np.ones((N, 2)), "rbf"),
        (X.astype(np.float32), "rbf"),
        (X, RBF(gamma=1.0) + Noise(0.1)),
        (X + 1e8, "linear"),
    ],
    ids=["zero kernel", "constant", "float32", "noise", "far away"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_rows_and_kernels_have_true_gaps(rows, kernel):
    for cls, y in ((NystroemRidge, NUMBERS), (NystroemSVC, LABELS), (NystroemLogisticRegression, THREE)):
        model, memory = fitted(cls(kernel=kernel, **FEW), y, 3, rows=rows), cls(kernel=kernel, **FEW).fit(rows, y)
        assert model.objective_ - memory.objective_ <= model.dual_gap_ <= 1.001 * model.objective_
        for where in ((rows, y), (chunked(rows, 4), chunked(y, 4))):
            assert model.verify(*where)["nystroem.gap"].ok


@pytest.mark.parametrize("C", [0.01, 1.0])
@pytest.mark.parametrize("seed", range(5))
def test_a_smoothed_hinge_without_rows_near_its_kink_goes_on(seed, C):
    rng = np.random.default_rng(seed)
    rows = rng.normal(size=(int(rng.integers(10, 60)), 2))
    y = (rows[:, 0] + 0.3 * rng.normal(size=len(rows)) > 0).astype(int)
    model = fitted(NystroemSVC(C, kernel="laplacian", n_landmarks=20, random_state=0), y, 2, rows=rows)
    assert model.certificate_["nystroem.gap"].holds


def test_groups_divide_aligned_partitions_and_limit_the_kernel_values():
    for n, dual, expected in (
        (100, "auto", LENGTH),
        (10**5, "auto", 4000),
        (10**9, "auto", 1000),
        (100, "bounded", 1000),
    ):
        assert group_length(n, dual) == expected and LENGTH % expected == 0


def test_a_risk_bound_of_a_machine_on_landmarks():
    model = Certified(NystroemLogisticRegression(**FEW), by="holdout", test_size=60, random_state=0)
    model.fit(chunked(X, 3), chunked(LABELS, 3))
    assert model.risk_bound_ < 0.7 and model.verify(chunked(X, 2), chunked(LABELS, 2))["risk.holdout"].ok
