r"""Checks of random Fourier features: the draws follow from their seed, and the errors satisfy the stated bounds.

With probability at most :math:`\delta`, the mean of :math:`D` cosines in :math:`[-1, 1]` differs from its expectation
by more than :math:`\sqrt{2 \ln(2 N / \delta) / D}` at one of :math:`N` pairs (Hoeffding; theory:
``random-fourier-features``).
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from surefit.checks.balls import LIBM
from surefit.checks.enclosure import UNIT, gamma
from surefit.checks.judge import Proof, claim, refused, shared
from surefit.checks.kernels.operator import kernel_on
from surefit.checks.kernels.values import level_of, training_values
from surefit.core.certificate import Certificate
from surefit.core.claims import Claim
from surefit.core.sample import Data
from surefit.kernels import RBF

SAMPLE = 100  # number of rows whose pairs are compared with the kernel
WORDS = "Inner products of the features differ from the kernel by at most {value:.3g}"


drawn = partial(
    claim, kind="uncertainty", side="upper", theory="random-fourier-features", assumptions=("pseudorandom_draws",)
)


@drawn("feature_map.fixed_pair", about="one pair of points that was chosen before the draw",
       says=lambda c: f"{WORDS.format(value=c.value)} with probability {1 - c.numbers['delta']:g}.")  # fmt: skip
def fixed_pair(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the error bound for one pair."""
    return _hoeffding(certificate, data, 1)


@drawn("feature_map.all_pairs", about="all pairs of training rows",
       says=lambda c: f"{WORDS.format(value=c.value)}, at all pairs at once, with probability {1 - c.numbers['delta']:g}.")  # fmt: skip
def all_pairs(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check the error bound for all pairs of training rows."""
    n = data.X.shape[0]
    return _hoeffding(certificate, data, max(n * (n - 1) // 2, 1))


def _hoeffding(certificate: Certificate, data: Data, places: int) -> Proof:
    problem = certificate.problem
    if wrong := _not_drawn(certificate, data):
        return refused(wrong)
    delta = 1.0 - problem["confidence"]
    width = 2 if problem["phases"] else 1  # bound on the absolute value of the terms
    value = width * math.sqrt(2 * math.log(2 * places / delta) / problem["n_frequencies"]) * (1 + 16 * UNIT)
    note = "frequencies drawn again from their seed."
    return Proof(value, "recomputed", note, {"delta": delta}, spread=16 * UNIT * value)


@shared
def _not_drawn(certificate: Certificate, data: Data) -> str:
    """Return why the frequencies are not draws from the kernel's spectral distribution; an empty string if they are."""
    kernel = kernel_on(certificate, data)
    seed, shape = certificate.model["seed_"], (certificate.problem["n_frequencies"], data.X.shape[1])
    if certificate.problem["phases"]:
        return _not_drawn_with_phases(certificate, shape, float(kernel.gamma))
    own = np.asarray(certificate.model["frequencies_"])
    if own.shape != shape or np.size(seed) != 1:
        return f"frequencies_ must have the shape {shape}"
    draws = np.random.default_rng(int(seed))
    if isinstance(kernel, RBF):
        again = draws.standard_normal(shape) * (1.0 / kernel.lengths)
    else:
        again = draws.standard_cauchy(shape) * float(kernel.gamma)
    same = np.all(np.abs(again - own) <= 8 * UNIT * np.abs(again))  # a division may be rounded differently
    return "" if same else "the frequencies are not those of the seed"


def _not_drawn_with_phases(certificate: Certificate, shape: tuple[int, int], gamma: float) -> str:
    weights, offset, seed = (certificate.model[name] for name in ("random_weights_", "random_offset_", "seed_"))
    if np.shape(weights) != shape[::-1] or np.shape(offset) != shape[:1] or np.size(seed) != 1:
        return f"random_weights_ must have the shape {shape[::-1]}, random_offset_ {shape[:1]}"
    draws = np.random.RandomState(int(seed))
    again = math.sqrt(2 * gamma) * draws.normal(size=shape[::-1])
    phases = draws.uniform(0, 2 * np.pi, size=shape[0])
    same = np.all(np.abs(again - weights) <= 8 * UNIT * np.abs(again)) and np.array_equal(phases, offset)
    return "" if same else "frequencies and phases are not those of the seed"


@claim("feature_map.sample_error", kind="data_fact", side="upper", theory="random-fourier-features",
       says=WORDS + " on the pairs of the first {rows} rows; this is an estimate for other pairs.")  # fmt: skip
def sample_error(certificate: Certificate, claim: Claim, data: Data) -> Proof:
    """Check that the error on the pairs of the first rows is at most ``value``."""
    kernel = kernel_on(certificate, data)
    A, rows = kernel.read(data.X[:SAMPLE]), np.arange(min(data.X.shape[0], SAMPLE))
    phases = certificate.problem["phases"]
    own = certificate.model["random_weights_"].T if phases else certificate.model["frequencies_"]
    frequencies = np.asarray(own, dtype=np.float64)
    offset = np.asarray(certificate.model["random_offset_"] if phases else np.zeros(len(frequencies)), dtype=np.float64)
    if frequencies.ndim != 2 or frequencies.shape[1] != data.X.shape[1] or not np.all(np.isfinite(frequencies)):
        return refused("frequencies_ must have one finite number per column of X")
    angles, sizes = np.asarray(A @ frequencies.T), np.asarray(abs(A) @ np.abs(frequencies).T) + np.abs(offset)
    # mean error of the cosines and sines
    off = np.mean(np.minimum(sizes * gamma(A.shape[1] + 4), 2.0), axis=1) + 2 * LIBM
    phi = math.sqrt(2) * np.cos(angles + offset) if phases else np.hstack([np.cos(angles), np.sin(angles)])
    K = training_values(kernel, A, rows, rows)
    apart = np.abs(phi @ phi.T / len(frequencies) - K.mid)
    rad = 2 * (off[:, None] + off) + K.rad + gamma(4 * len(frequencies) + 32)
    value = float(np.max(apart + rad)) * (1 + 8 * UNIT)
    spread = value - max(float(np.max(apart - rad)), 0.0)
    return Proof(value, level_of(kernel), "errors of these pairs recomputed.", {"rows": len(rows)}, spread=spread)
