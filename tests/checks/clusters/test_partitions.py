"""The checker of partitions: it agrees with honest certificates and refuses others, however they are sealed."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris

from surefit import Certificate, CertificateError, ExhaustiveClustering, Invalidated, KMeans

X = load_iris().data


@pytest.fixture(scope="module")
def model():
    return KMeans(3, random_state=0, lower_bound="sdp").fit(X)


def forged(certificate, **changes):
    """The certificate with changes, sealed anew: nothing but the content speaks against it."""
    return replace(certificate, subject=None, seal="", **changes)


def with_model(certificate, **arrays):
    return forged(certificate, model={**certificate.model, **arrays})


def with_claim(certificate, name, **changes):
    claims = tuple(replace(c, **changes) if c.name == name else c for c in certificate.claims)
    return forged(certificate, claims=claims)


def test_honest_certificates_pass_and_survive_json(model):
    levels = {f.name: f.level for f in model.verify(X).findings}
    assert set(levels.values()) == {"enclosed"}
    Certificate.from_json(model.certificate_.to_json()).verify(X)


@pytest.mark.parametrize("size", [1e-3, 1e-6, 1e-9])
def test_moved_centers_are_refused(model, size):
    centers = model.cluster_centers_.copy()
    centers[1, 2] += size
    claim = replace(model.certificate_["k_means.means"], value=0.0)
    claims = tuple(claim if c.name == claim.name else c for c in model.certificate_.claims)
    certificate = forged(
        model.certificate_, claims=claims, model={**model.certificate_.model, "cluster_centers_": centers}
    )
    with pytest.raises(CertificateError, match=r"k_means\.(means|inertia|nearest|gap)"):
        certificate.verify(X)


def test_a_swapped_label_is_refused(model):
    labels = model.labels_.copy()
    labels[0] = (labels[0] + 1) % 3
    with pytest.raises(CertificateError) as caught:
        with_model(model.certificate_, labels_=labels).verify(X)
    assert caught.value.claim in {"k_means.gap", "k_means.nearest"}


@pytest.mark.parametrize("labels", [np.full(150, 3), np.full(150, -1), np.zeros(149, dtype=int), np.zeros(150)])
def test_labels_that_name_no_partition_are_refused(model, labels):
    with pytest.raises(CertificateError, match="labels do not name"):
        with_model(model.certificate_, labels_=labels).verify(X)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("k_means.gap", {"value": 1.0}),
        ("k_means.inertia", {"value": 0.0}),
        ("k_means.inertia", {"numbers": {"inertia": 78.0}}),
        ("k_means.single_move", {"value": -1.0}),
        ("k_means.means", {"value": -1.0}),
    ],
)
def test_better_numbers_than_the_truth_are_refused(model, name, changes):
    with pytest.raises(CertificateError, match=name.replace(".", r"\.")):
        with_claim(model.certificate_, name, **changes).verify(X)


def test_a_false_lower_bound_is_refused(model):
    claim = model.certificate_["k_means.gap"]
    numbers = {**claim.numbers, "lower_bound": model.inertia_}
    with pytest.raises(CertificateError, match=r"k_means\.gap"):
        with_claim(model.certificate_, "k_means.gap", numbers=numbers).verify(X)


@pytest.mark.parametrize("spoil", [lambda N: -N, lambda N: N * 0, lambda N: N[:-1], lambda N: N * 1.5])
def test_spoilt_multipliers_prove_less_than_claimed(model, spoil):
    witness = {"multipliers": spoil(model.certificate_["k_means.gap"].witness["multipliers"])}
    with pytest.raises(CertificateError, match=r"k_means\.gap"):
        with_claim(model.certificate_, "k_means.gap", witness=witness).verify(X)


def test_other_data_and_edited_models_are_told_apart(model):
    with pytest.raises(Invalidated, match="X differ"):
        model.certificate_.verify(X + 1e-9)
    edited = KMeans(3, random_state=0).fit(X)
    edited.labels_ = 1 - edited.labels_
    with pytest.raises(Invalidated, match="labels_ was changed"):
        edited.verify(X)


def test_spectral_line_and_sparse_certificates():
    sparse_X = sparse.csr_array(X * (X > 1.5))
    KMeans(4, random_state=0).fit(sparse_X).verify(sparse_X)
    line = X[:, :1]
    model = KMeans(4, random_state=0).fit(line)
    model.verify(line)
    with pytest.raises(CertificateError, match=r"k_means\.gap"):
        with_claim(model.certificate_, "k_means.gap", value=-1.0).verify(line)


@pytest.mark.parametrize("criterion", ["inertia", "scatter"])
def test_exhaustive_certificates(criterion):
    rows = X[::9]
    best = ExhaustiveClustering(3, criterion=criterion).fit(rows)
    certificate = best.certificate_
    assert certificate.verify(rows)["partition.gap"].proved < 1e-6 * best.objective_
    claim = certificate["partition.gap"]
    with pytest.raises(CertificateError, match=r"partition\.gap"):
        with_claim(
            certificate,
            claim.name,
            witness={**claim.witness, "least": claim.witness["least"] * 1.01},
            numbers={"lower_bound": claim.numbers["lower_bound"] * 1.01},
        ).verify(rows)
    with pytest.raises(CertificateError, match="does not list these rows"):
        with_claim(certificate, claim.name, witness={**claim.witness, "order": claim.witness["order"] * 0}).verify(rows)
    labels = best.labels_.copy()
    labels[0] = (labels[0] + 1) % 3
    with pytest.raises(CertificateError, match=r"partition\."):
        with_model(certificate, labels_=labels).verify(rows)
