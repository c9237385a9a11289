"""The checker of facts about labeled data: it proves what is true, and refuses what is not, however near."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from surefit import separability
from surefit.core import integers
from surefit.core.certificate import Certificate, grade_of
from surefit.core.claims import Claim
from surefit.core.errors import CertificateError, Invalidated
from surefit.core.fingerprint import data_fingerprint
from surefit.problems import Given, derived
from surefit.separation.columns import single_columns

FOUR_POINTS = np.array([[0, 0], [0, 0.5], [1, 0.5], [1, 0]]), np.array([1.0, 1, 1, -1])


def certificate(X, y, claim, intercept=True):
    """A certificate that nobody but its author vouches for."""
    y, params = np.asarray(y, dtype=float), {"intercept": intercept}
    problem = derived("separability", Given(params, X, y, None, {}))
    return Certificate(grade_of((claim,)), "separability", params, problem, {}, data_fingerprint(X, y), (claim,))


def fact(name, value=0.0, numbers=None, **witness):
    witness = {key: np.asarray(array) for key, array in witness.items()}
    return Claim(f"separation.{name}", float(value), numbers=numbers or {}, witness=witness)


def resealed(issued, name, **changes):
    """The same certificate with one claim's witness changed and a fresh seal: a forger's work."""
    claims = tuple(
        replace(claim, witness={**claim.witness, **changes}) if claim.name == name else claim for claim in issued.claims
    )
    return replace(issued, claims=claims, seal="")


def test_noise_does_not_prove_non_separability():
    X, y = FOUR_POINTS
    rng = np.random.default_rng(0)
    noise = fact("farkas", rows=np.arange(4), weights=1e-17 * rng.random(4))
    with pytest.raises(CertificateError, match="does not vanish .* does not prove that there is none") as caught:
        certificate(X, y, noise).verify(X, y)
    assert caught.value.claim == "separation.farkas"


@pytest.mark.parametrize("margin", [1e-3, 1e-9, 1e-15, 2.0**-1000])
def test_a_tiny_remainder_is_not_zero(margin):
    X, y = np.array([[1.0], [1.0 - margin if margin > 1e-100 else 1.0]]), np.array([1.0, -1.0])
    X = X if margin > 1e-100 else np.array([[margin], [0.0]])
    issued = certificate(X, y, fact("farkas", rows=[0, 1], weights=[1.0, 1.0]))
    with pytest.raises(CertificateError, match="does not vanish"):
        issued.verify(X, y)
    assert separability(X, y).status == "strict"


def test_nearest_points_of_hulls_a_hair_apart_are_refused():
    # Weights as good as floats can make them: the remainder is about the margin, and no proof.
    rng = np.random.default_rng(1)
    X, y = rng.normal(size=(60, 3)), np.ones(60)
    y[X[:, 0] < 0] = -1
    X[:, 0] += 1e-9 * y
    report = separability(X, y)
    alpha = report.bracket.alpha
    rows = np.flatnonzero(alpha)
    claim = fact("farkas", rows=rows, weights=alpha[rows])
    with pytest.raises(CertificateError, match="does not vanish"):
        certificate(X, y, claim).verify(X, y)


@pytest.mark.parametrize(
    ("low", "up", "fine"), [(0.2236067, 0.2236069, True), (0.22361, 0.2237, False), (0.2, 0.2235, False)]
)
def test_a_bracket_must_be_where_the_witnesses_put_it(low, up, fine):
    X, y = FOUR_POINTS
    witness = {"w": [-2.0, 4.0], "b": [1.0], "rows": [0, 2, 3], "alpha": [0.2, 0.8, 1.0]}
    issued = certificate(X, y, fact("margin_bracket", low, {"up": up}, **witness))
    if fine:
        assert issued.verify(X, y)["separation.margin_bracket"].proved == low
    else:
        with pytest.raises(CertificateError, match="margin_bracket"):
            issued.verify(X, y)


# --- columns and labels ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("thin", [False, True])
def test_single_columns(thin):
    #              strict  weak  constant  mixed  touching
    X = np.array(
        [[0.0, 0.0, 5.0, 1.0, 1.0], [1.0, 0.0, 5.0, 3.0, 2.0], [2.0, 0.0, 5.0, 2.0, 2.0], [3.0, 1.0, 5.0, 0.0, 4.0]]
    )
    t = np.array([-1.0, -1.0, 1.0, 1.0])
    design = sparse.csr_array(X) if thin else X
    assert single_columns(design, t, True) == ([0], [1, 4])
    assert single_columns(design, -t, True) == ([0], [1, 4])
    assert single_columns(design, t, False) == ([], [1])
    assert single_columns(design, np.ones(4), False) == ([2, 4], [0, 1, 3])


def test_columns_that_do_not_separate_are_refused():
    X, y = np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), np.array([-1.0, 1.0, 1.0])
    empty = np.empty(0, dtype=np.int64)
    assert certificate(X, y, fact("columns", 1, strict=[0], weak=empty)).verify(X, y)
    for claim in (fact("columns", 1, strict=[1], weak=empty), fact("columns", 1, strict=empty, weak=[0])):
        with pytest.raises(CertificateError, match="does not separate as stated"):
            certificate(X, y, claim).verify(X, y)
    outside = fact("column_set", 1, {"strict": True}, columns=[1], v=[2.0, 0.0, -1.0])
    with pytest.raises(CertificateError, match="column_set"):
        certificate(X, y, outside).verify(X, y)
    flat = fact("column_set", 2, {"strict": False}, columns=[0, 1], v=[0.0, 0.0, 0.0])
    with pytest.raises(CertificateError, match="column_set"):
        certificate(X, y, flat).verify(X, y)


def test_flipped_labels_and_foreign_labels_are_refused():
    X, y = FOUR_POINTS
    claim = fact("direction", 4, v=[-2.0, 4.0, 1.0])
    assert certificate(X, y, claim).verify(X, y)
    with pytest.raises(CertificateError, match="4 rows do not lie strictly"):
        certificate(X, -y, claim).verify(X, -y)
    third = np.array([1.0, 1, 2, -1])
    with pytest.raises(ValueError, match="more than two labels"):
        certificate(X, third, claim)
    with pytest.raises(CertificateError, match="4 rows do not lie"):
        certificate(X, y, fact("direction", v=[-2.0, 4.0])).verify(X, y)
    with pytest.raises(CertificateError, match="one_class"):
        certificate(X, y, fact("one_class")).verify(X, y)
    with pytest.raises(CertificateError, match="radius"):
        certificate(X, y, fact("radius", 1.0)).verify(X, y)


def test_a_direction_through_a_row_is_weak_not_strict():
    X, y = np.array([[0.0], [1.0], [2.0]]), np.array([-1.0, 1.0, 1.0])
    strict, weak = fact("direction", 3, v=[1.0, -1.0]), fact("weak_direction", 2, {"rows": 3}, v=[1.0, -1.0])
    with pytest.raises(CertificateError, match="1 row does not lie strictly"):
        certificate(X, y, strict).verify(X, y)
    assert certificate(X, y, weak).verify(X, y)["separation.weak_direction"].ok
    with pytest.raises(CertificateError, match="0 strictly on their side"):
        certificate(X, y, fact("weak_direction", v=[0.0, 0.0])).verify(X, y)


# --- tampering ----------------------------------------------------------------------------------------------------------------


def problems():
    rng = np.random.default_rng(3)
    X = rng.integers(-2, 3, (30, 3)).astype(float)
    X = np.column_stack([X, X[:, 0] - X[:, 1]])  # a redundant column: the proof of overlap needs an idle direction
    weak = np.column_stack([rng.normal(size=30), rng.integers(0, 2, 30)])
    return {
        "strict": FOUR_POINTS,
        "overlap": (X, np.where(rng.random(30) < 0.5, 1.0, -1.0)),
        "weak": (weak, np.where((weak[:, 1] == 1) | (rng.random(30) < 0.5), 1.0, -1.0)),
    }


@pytest.mark.parametrize("kind", ["strict", "overlap", "weak"])
def test_any_change_of_the_evidence_breaks_the_seal(kind):
    X, y = problems()[kind]
    issued = separability(X, y).certificate
    issued.verify(X, y)
    for claim in issued.claims:
        for array in claim.witness.values():
            if array.size:
                before = array.flat[0]
                array.flat[0] = "9" if array.dtype.kind == "U" else before + 1
                with pytest.raises(Invalidated, match="altered"):
                    issued.verify(X, y)
                array.flat[0] = before
    issued.verify(X, y)


def test_a_forged_seal_does_not_help():
    X, y = problems()["overlap"]
    issued = separability(X, y).certificate
    overlap = issued["separation.overlap"]
    weights, rows = overlap.witness["weights"], overlap.witness["rows"]
    altered = np.array([str(w) for w in integers.vector(weights)])
    altered[0] = str(int(altered[0]) + 1)
    moved = rows.copy()
    moved[0] = next(
        i for i in range(30) if i not in rows and not np.array_equal(X[i] * y[i], X[moved[0]] * y[moved[0]])
    )
    null = overlap.witness["null"].copy()
    null.flat[0] = "5" if null.dtype.kind == "U" else null.flat[0] + 1.0
    forgeries = [
        ("separation.farkas", {"weights": altered}),
        ("separation.farkas", {"rows": moved}),
        ("separation.overlap", {"weights": altered}),
        ("separation.overlap", {"null": null}),
        ("separation.overlap", {"rows": rows[:-1], "weights": weights[:-1]}),
    ]
    for name, changes in forgeries:
        with pytest.raises(CertificateError) as caught:
            resealed(issued, name, **changes).verify(X, y)
        assert caught.value.claim == name
    X, y = FOUR_POINTS
    issued = separability(X, y).certificate
    for name, changes in [
        ("separation.direction", {"v": np.array([-2.0, 4.0, -1.0])}),
        ("separation.margin_bracket", {"w": np.array([-2.0, 4.1])}),
        ("separation.margin_bracket", {"alpha": np.array([0.3, 0.7, 1.0])}),
        ("separation.margin_bracket", {"rows": np.array([0, 1, 3])}),
        ("separation.margin_bracket", {"rows": np.array([0, 2, 9])}),
    ]:
        with pytest.raises(CertificateError) as caught:
            resealed(issued, name, **changes).verify(X, y)
        assert caught.value.claim == name


def test_other_data_are_recognized():
    X, y = FOUR_POINTS
    issued = separability(X, y).certificate
    with pytest.raises(Invalidated, match="X differ"):
        issued.verify(X + 1e-9, y)
    with pytest.raises(Invalidated, match="y differ"):
        issued.verify(X, -y)
