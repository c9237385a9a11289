"""Kernels of strings and of graphs: the tables of the textbooks, three routes to the same number."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.linalg import expm

from surefit.core.errors import InvalidData, InvalidParameter
from surefit.kernels import CommonWords, Diffusion, Normalized, StringSubsequence

HALF = Fraction(1, 2)


def by_definition(s, t, n, decay=HALF):
    """Sum over all pairs of equal subsequences, in rational numbers."""

    def features(word):
        found = {}
        for places in combinations(range(len(word)), n):
            u = "".join(word[i] for i in places)
            found[u] = found.get(u, 0) + decay ** (places[-1] - places[0] + 1)
        return found

    left, right = features(s), features(t)
    return sum(value * right.get(u, 0) for u, value in left.items())


def by_recursion(s, t, n, decay=HALF):
    """The recursion over prefixes, without the running sum that makes it fast."""

    def inner(s, t, h):
        if h == 0:
            return Fraction(1)
        if min(len(s), len(t)) < h:
            return Fraction(0)
        x, rest = s[-1], s[:-1]
        ends = (j for j, c in enumerate(t) if c == x)
        return decay * inner(rest, t, h) + sum(inner(rest, t[:j], h - 1) * decay ** (len(t) - j + 1) for j in ends)

    def outer(s, t):
        if min(len(s), len(t)) < n:
            return Fraction(0)
        x, rest = s[-1], s[:-1]
        return outer(rest, t) + decay**2 * sum(inner(rest, t[:j], n - 1) for j, c in enumerate(t) if c == x)

    return outer(s, t)


def test_table_of_four_words():
    words, lam = ["cat", "car", "bat", "bar"], 0.5
    kernel = StringSubsequence(2, lam, normalized=False)
    names = ["ca", "ct", "at", "ba", "bt", "cr", "ar", "br"]
    a, b = lam**2, lam**3
    table = [[a, b, a, 0, 0, 0, 0, 0], [a, 0, 0, 0, 0, b, a, 0], [0, 0, a, a, b, 0, 0, 0], [0, 0, 0, a, 0, 0, a, b]]
    assert np.array_equal(kernel.feature_map(words, names), table)
    assert sorted(names) == kernel.feature_names(words)
    K = kernel(words)
    assert K[0, 1] == lam**4 and K[0, 0] == K[1, 1] == 2 * lam**4 + lam**6 and K[0, 3] == 0.0
    assert StringSubsequence(2, lam)(words)[0, 1] == pytest.approx(4 / 9, rel=1e-15)
    for lam in (0.3, 0.9, 1.0):
        assert StringSubsequence(2, lam)(["car"], ["cat"])[0, 0] == pytest.approx(1 / (2 + lam**2), rel=1e-14)


def test_spans_of_subsequences():
    kernel = StringSubsequence(3, 0.5, normalized=False)
    assert kernel.feature_map(["card"], ["car"])[0, 0] == 0.5**3
    assert kernel.feature_map(["custard"], ["car"])[0, 0] == 0.5**6
    assert kernel.feature_map(["segmentation"], ["set"])[0, 0] == 2 * 0.5**7 + 2 * 0.5**9 == 0.01953125


def test_segmentation_and_statement():
    half = StringSubsequence(3, 0.5).all_lengths(["segmentation"], ["statement"]).ravel()
    assert half == pytest.approx([3.75, 0.4813127518, 0.0855846405], abs=5e-11)
    assert StringSubsequence(3, 1.0).all_lengths(["segmentation"], ["statement"]).ravel().tolist() == [15.0, 50.0, 64.0]
    for n in (1, 2, 3):
        exact = by_definition("segmentation", "statement", n)
        assert by_recursion("segmentation", "statement", n) == exact
        assert half[n - 1] == pytest.approx(float(exact), rel=1e-14)


def test_two_sentences():
    s, t = "science is organized knowledge", "wisdom is organized life"
    found = [StringSubsequence(n, 0.5)([s], [t])[0, 0] for n in range(2, 7)]
    assert found == pytest.approx([0.57981, 0.47845, 0.43887, 0.40575, 0.36916], abs=5e-6)
    all_at_once = StringSubsequence(6, 0.5)
    own = [all_at_once.all_lengths([w], [w]).ravel() for w in (s, t)]
    assert all_at_once.all_lengths([s], [t]).ravel()[1:] / np.sqrt(own[0] * own[1])[1:] == pytest.approx(
        found, rel=1e-12
    )


words = st.lists(st.text(alphabet="abc", max_size=7), min_size=1, max_size=4)


@settings(max_examples=40, deadline=None)
@given(words, words, st.integers(1, 4), st.sampled_from([Fraction(1, 2), Fraction(3, 4), Fraction(1)]), st.booleans())
def test_dynamic_program_features_and_definition_agree(left, right, n, decay, normalized):
    kernel = StringSubsequence(n, float(decay), normalized=normalized)
    K = kernel(left, right)
    names = sorted({*kernel.feature_names(left), *kernel.feature_names(right)})
    assert K == pytest.approx(
        kernel.feature_map(left, names) @ kernel.feature_map(right, names).T, rel=1e-10, abs=1e-12
    )
    if not normalized:
        exact = [[float(by_definition(s, t, n, decay)) for t in right] for s in left]
        assert K == pytest.approx(np.array(exact), rel=1e-12)
    square = kernel(left)
    assert np.array_equal(square, square.T) and np.linalg.eigvalsh(square)[0] > -1e-10
    assert np.diagonal(square) == pytest.approx(np.diagonal(kernel(left, left)), rel=1e-14)


def test_weights_of_lengths():
    sample, weights = ["banana", "bandana", "an"], [0.5, 0.0, 2.0]
    kernel = StringSubsequence(3, 0.7, normalized=False, weights=weights)
    parts = kernel.all_lengths(sample)
    assert kernel(sample) == pytest.approx(0.5 * parts[0] + 2 * parts[2], rel=1e-13)
    F = kernel.feature_map(sample)
    assert F @ F.T == pytest.approx(kernel(sample), rel=1e-12)
    normal = StringSubsequence(3, 0.7, weights=weights)(sample)
    assert normal == pytest.approx(Normalized(kernel)(sample), rel=1e-12)
    with pytest.raises(InvalidParameter, match="3 numbers, one per length"):
        StringSubsequence(3, weights=[1.0])(sample)


def test_one_character_counts_letters():
    assert StringSubsequence(1, 0.5, normalized=False)(["aab"], ["abb"])[0, 0] == 0.25 * (2 * 1 + 1 * 2)


def test_long_subsequences_do_not_underflow_when_normalized():
    text = "ab" * 41
    assert 0.5 < StringSubsequence(80, 0.01)([text, text + "b"])[0, 1] < 1.0
    assert StringSubsequence(80, 0.01, normalized=False)([text])[0, 0] < 1e-300


def test_short_strings_have_no_features():
    K = StringSubsequence(3)(["ab", "", "abc"])
    assert np.array_equal(K, [[0, 0, 0], [0, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize("sample, match", [("abc", "Put it into a list"), ([1.0], "element 0 is 1.0"), ([[]], "shape")])
def test_strings_are_required(sample, match):
    for kernel in (StringSubsequence(), CommonWords()):
        with pytest.raises(InvalidData, match=match):
            kernel(sample)


def test_blocks_of_string_rows():
    sample = np.array(["banana", "bandana", "ana", "nab"], dtype=object)
    rows = StringSubsequence(2).rows(sample[:, None])
    assert np.array_equal(rows.block([2, 0]), StringSubsequence(2)(sample)[[2, 0]])
    assert np.array_equal(rows.take([3, 1]).cross(["ban"]), StringSubsequence(2)(["ban"], sample[[3, 1]]))


def test_common_words():
    texts = ["the cat sat", "The dog sat!", "no word of this one", "sat sat the"]
    kernel = CommonWords()
    assert kernel(texts[:1], texts[1:2])[0, 0] == 2.0
    assert kernel.diag(texts).tolist() == [3.0, 3.0, 5.0, 2.0]
    assert CommonWords(lowercase=False)(texts[:1], texts[1:2])[0, 0] == 1.0
    assert CommonWords(counts="product")(texts[:1], texts[3:])[0, 0] == 3.0
    assert CommonWords(counts="min")(texts[3:], texts[3:])[0, 0] == 3.0
    for counts in ("set", "product", "min"):
        kernel = CommonWords(counts=counts)
        F = kernel.feature_map(texts)
        assert np.array_equal(F @ F.T, kernel(texts)) and np.array_equal(kernel.diag(texts), np.diagonal(kernel(texts)))
    assert CommonWords().feature_map(["cat sat"], ["cat", "dog"]).tolist() == [[1.0, 0.0]]
    assert Normalized(CommonWords())(texts)[0, 1] == pytest.approx(2 / 3)


def test_two_joined_nodes():
    for lam in (0.7, -1.3, 2.0):
        K = Diffusion([[0.0, 1.0], [1.0, 0.0]], lam)([0, 1])
        assert K == pytest.approx(np.array([[np.cosh(lam), np.sinh(lam)], [np.sinh(lam), np.cosh(lam)]]), rel=1e-13)


def test_diffusion_on_a_graph():
    rng = np.random.default_rng(0)
    B = np.triu(rng.integers(0, 2, (8, 8)), 1).astype(float)
    B = B + B.T
    kernel, nodes = Diffusion(B, 0.4), np.arange(8)
    K = kernel(nodes)
    assert K == pytest.approx(expm(0.4 * B), rel=1e-11)
    assert K @ Diffusion(B, -0.4)(nodes) == pytest.approx(np.eye(8), abs=1e-12)
    assert np.linalg.det(K) == pytest.approx(np.exp(0.4 * np.trace(B)), rel=1e-10)
    assert np.linalg.eigvalsh(Diffusion(B, -3.0)(nodes))[0] > 0
    assert kernel.feature_map(nodes) @ kernel.feature_map(nodes).T == pytest.approx(K, rel=1e-12)
    assert Diffusion(sparse.csr_array(B), 0.4)(nodes[:3, None].astype(float)) == pytest.approx(K[:3, :3])
    pairs = kernel.eigenpairs(8)
    assert pairs.kernel(nodes, nodes) == pytest.approx(K, rel=1e-12) and np.all(np.diff(pairs.values) <= 0)
    learned = Diffusion(B, 0.4, (1e-3, 1e3))
    _, slopes = learned.gram_and_gradient(nodes)
    difference = (Diffusion(B, 0.4 * np.exp(1e-6))(nodes) - Diffusion(B, 0.4 * np.exp(-1e-6))(nodes)) / 2e-6
    assert slopes[0] == pytest.approx(difference, rel=1e-6, abs=1e-9)
    with pytest.raises(InvalidParameter, match="symmetric"):
        Diffusion([[0.0, 1.0], [0.0, 0.0]])([0])
    with pytest.raises(InvalidData, match="integers from 0 to 7"):
        kernel([8])
