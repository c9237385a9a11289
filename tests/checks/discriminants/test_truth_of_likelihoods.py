"""Log-likelihoods that Bayes classifiers could still gain, against sixty digits, from the sums of the theory pages."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.exact_geometry import rational
from tests.forging import proved

from surefit import (
    BernoulliNB,
    GaussianNB,
    MAPClassifier,
    MultinomialNB,
    QuadraticDiscriminantAnalysis,
)

N, D = 11, 2
SHAPES = {
    "plain": ([1.0, 1.0], [0.0, 0.0]),
    "large and small": ([1e6, 1e-6], [0.0, 0.0]),
    "shifted": ([1.0, 1e-3], [1e6, 1.0]),
    "tiny": ([1e-40, 1e-40], [0.0, 0.0]),
}
LABELS = np.array([0, 1, 0, 1, 1, 0, 0, 1, 1, 0, 0])
WEIGHTS = np.array([1.0, 0.5, 1e-3, 2.0, 1 / 3, 1e3, 1.0, 0.7, 12.0, 0.0, 1.1])


@pytest.fixture(autouse=True)
def sixty_digits():
    with mpmath.workdps(60):
        yield


def number(fraction):
    return mpf(fraction.numerator) / mpf(fraction.denominator)


def table(shape, seed=0):
    rng = np.random.default_rng(seed)
    scale, shift = SHAPES[shape]
    X = rng.normal(size=(N, D)) @ [[1.0, 0.3], [0.0, 1.0]]
    X[4] = X[3]
    return X * scale + shift


def by_class(values, weights):
    """Yield the rows and the weights of each class, in fractions."""
    s = rational(np.ones(N) if weights is None else weights)
    for k in (0, 1):
        rows = [i for i in range(N) if LABELS[i] == k and s[i]]
        yield [rational(values[i]) for i in rows], [s[i] for i in rows]


def moments(rows, s):
    """Mean and covariance, divided by the weight."""
    mass = sum(s)
    mean = [sum(w * row[j] for w, row in zip(s, rows, strict=True)) / mass for j in range(D)]
    about = [[v - m for v, m in zip(row, mean, strict=True)] for row in rows]
    cov = [[sum(w * a[i] * a[j] for w, a in zip(s, about, strict=True)) / mass for j in range(D)] for i in range(D)]
    return mass, mean, cov


def prior_loss(masses, log_priors):
    """Weight times the divergence of the class frequencies from the stored priors, divided by their sum."""
    total, priors = sum(masses), [mpmath.exp(v) for v in log_priors]
    return sum(
        number(m) * mpmath.log(number(m / total) / (p / sum(priors))) for m, p in zip(masses, priors, strict=True)
    )


def require(claim, truth, size):
    """The claim is at least the truth, and at most what the rounding of the parameters explains."""
    assert claim.value >= truth >= -(mpf(10) ** -40) * size
    assert claim.value <= 1e-9 * size


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
def test_gaussian_naive_bayes(shape, weights):
    X = table(shape)
    for smoothing in (1e-9, 0.1):
        model = GaussianNB(var_smoothing=smoothing).fit(X, LABELS, sample_weight=weights)
        parts = list(by_class(X, weights))
        found = [moments(*part) for part in parts]
        everything = moments([row for rows, _ in parts for row in rows], [w for _, s in parts for w in s])
        floor = Fraction(smoothing) * max(everything[2][j][j] for j in range(D))
        size = sum(float(mass) for mass, _, _ in found)

        def lost(theta, var, found=found, floor=floor, model=model):
            total = prior_loss([mass for mass, _, _ in found], [mpmath.log(mpf(float(p))) for p in model.class_prior_])
            for k, (mass, mean, cov) in enumerate(found):
                for j in range(D):
                    v = Fraction(float(var[k, j]))
                    ratio = number((cov[j][j] + floor) / v)
                    away = number((Fraction(float(theta[k, j])) - mean[j]) ** 2 / v)
                    total += number(mass) / 2 * (ratio - 1 - mpmath.log(ratio) + away)
            return total

        require(model.certificate_["naive_bayes.likelihood"], lost(model.theta_, model.var_), size)
        for off in (1e-4, 1e-2):  # wrong parameters lose what the checker proves, and little less
            wrong = {"theta_": model.theta_ + off * np.sqrt(model.var_), "var_": model.var_ * (1 - off)}
            value = proved(model, "naive_bayes.likelihood", X, LABELS, weights, **wrong).value
            assert value >= lost(wrong["theta_"], wrong["var_"]) >= value / 1.5


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e6, 1e-300])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_multinomial_naive_bayes(scale, weights, alpha):
    X = np.abs(table("plain", 1)) * [scale, 1.0]
    X[0, 0] = 0.0
    model = MultinomialNB(alpha=alpha).fit(X, LABELS, sample_weight=weights)
    parts = list(by_class(X, weights))
    masses = [sum(s) for _, s in parts]
    tables = [
        [sum(w * row[j] for w, row in zip(s, rows, strict=True)) + Fraction(alpha) for j in range(D)]
        for rows, s in parts
    ]

    def lost(log_probs):
        total = prior_loss(masses, [mpf(float(v)) for v in model.class_log_prior_])
        for counts, line in zip(tables, log_probs, strict=True):
            said = [mpmath.exp(mpf(float(v))) for v in line]
            shares = [number(c / sum(counts)) / (p / sum(said)) for c, p in zip(counts, said, strict=True)]
            total += sum(number(c) * mpmath.log(share) for c, share in zip(counts, shares, strict=True))
        return total

    size = float(sum(masses) + sum(map(sum, tables)))
    require(model.certificate_["naive_bayes.likelihood"], lost(model.feature_log_prob_), size)
    for off in (1e-4, 1e-2):
        wrong = np.log((1 - off) * np.exp(model.feature_log_prob_) + off / D)
        value = proved(model, "naive_bayes.likelihood", X, LABELS, weights, feature_log_prob_=wrong).value
        assert value >= lost(wrong) >= 0
        assert scale != 1.0 or value <= 8 * lost(wrong) + 1e-20  # Hoeffding's bound is loose for uneven shares


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("alpha", [1.0, 1e-3])
def test_bernoulli_naive_bayes(weights, alpha):
    X = table("plain", 2)
    model = BernoulliNB(alpha=alpha, binarize=0.1).fit(X, LABELS, sample_weight=weights)
    parts = list(by_class((X > 0.1).astype(float), weights))
    masses = [sum(s) for _, s in parts]

    def lost(log_probs):
        found = prior_loss(masses, [mpf(float(v)) for v in model.class_log_prior_])
        for k, (rows, s) in enumerate(parts):
            for j in range(D):
                total = masses[k] + 2 * Fraction(alpha)
                p = number((sum(w * row[j] for w, row in zip(s, rows, strict=True)) + Fraction(alpha)) / total)
                q = mpmath.exp(mpf(float(log_probs[k, j])))
                found += number(total) * (p * mpmath.log(p / q) + (1 - p) * mpmath.log((1 - p) / (1 - q)))
        return found

    require(model.certificate_["naive_bayes.likelihood"], lost(model.feature_log_prob_), float(sum(masses)) + 4)
    for off in (1e-4, 1e-2):
        wrong = np.log((1 - off) * np.exp(model.feature_log_prob_) + off / 2)
        value = proved(model, "naive_bayes.likelihood", X, LABELS, weights, feature_log_prob_=wrong).value
        assert value >= lost(wrong) >= value / 4


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("reg_param", [0.0, 0.2])
def test_quadratic_discriminants(shape, reg_param):
    X = table(shape, 3)
    if reg_param and shape != "plain":
        X = table("plain", 4)
    model = QuadraticDiscriminantAnalysis(reg_param=reg_param, tol=0.0, store_covariance=False).fit(X, LABELS)
    found, share = [moments(*part) for part in by_class(X, None)], Fraction(reg_param)

    def lost(means, scalings):
        total = mpf(0)
        for k, (mass, mean, cov) in enumerate(found):
            wanted = [[number((1 - share) * cov[i][j] + (share if i == j else 0)) for j in range(D)] for i in range(D)]
            wanted, v = mpmath.matrix(wanted), [mpf(float(x)) for x in scalings[k]]
            T = mpmath.matrix(model.rotations_[k].tolist()) * mpmath.diag([1 / mpmath.sqrt(x) for x in v])
            seen = T.T * wanted * T
            off = T.T * mpmath.matrix([number(Fraction(float(m)) - mean[j]) for j, m in enumerate(means[k])])
            # The densities of the model have the exponent |T'(x - m)|^2 and the constant of the variances on the axes.
            own = sum(mpmath.log(x) for x in v) + seen[0, 0] + seen[1, 1] + sum(x * x for x in off)
            total += number(mass) / 2 * (own - mpmath.log(mpmath.det(wanted)) - D)
        return total

    claim = model.certificate_["quadratic.likelihood"]
    assert lost(model.means_, model.scalings_) <= claim.value <= 1e-6 * N and claim.numbers["shrunk"] == (reg_param > 0)
    for off in (1e-3, 1e-2):
        wrong = {"means_": model.means_ + off * X.std(axis=0), "scalings_": np.asarray(model.scalings_) * (1 + off)}
        value = proved(model, "quadratic.likelihood", X, LABELS, **wrong).value
        assert value >= lost(**{name.rstrip("_"): part for name, part in wrong.items()}) >= value / 8


@pytest.mark.parametrize("shape", [*SHAPES])
@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("family", ["diagonal", "full", "common"])
def test_likelihood_equations_of_normal_classes(shape, weights, family):
    X = table(shape, 5)
    for smoothing in (1e-9, 0.3):
        model = MAPClassifier(family, var_smoothing=smoothing).fit(X, LABELS, sample_weight=weights)
        parts = list(by_class(X, weights))
        found = [moments(*part) for part in parts]
        everything = moments([row for rows, _ in parts for row in rows], [w for _, s in parts for w in s])
        floor = Fraction(smoothing) * max(everything[2][j][j] for j in range(D))
        total = sum(mass for mass, _, _ in found)
        pooled = [[sum(mass * cov[i][j] for mass, _, cov in found) / total for j in range(D)] for i in range(D)]

        def worst(means, spreads, found=found, total=total, pooled=pooled, floor=floor, model=model):
            for k, (mass, mean, cov) in enumerate(found):
                spread = spreads[0 if family == "common" else k]
                wanted = pooled if family == "common" else cov
                units = [mpmath.sqrt(mpf(float(v))) for v in (spread if family == "diagonal" else np.diag(spread))]
                yield abs(number(Fraction(float(model.class_prior_[k])) - mass / total))
                for i in range(D):
                    yield abs(number(Fraction(float(means[k, i])) - mean[i])) / units[i]
                    for j in [i] if family == "diagonal" else range(D):
                        stored = Fraction(float(spread[i] if family == "diagonal" else spread[i, j]))
                        off = abs(number(stored - wanted[i][j] - (floor if i == j else 0)))
                        yield off / units[i] / units[j]

        assert max(worst(model.means_, model.spreads_)) <= model.certificate_["map.likelihood"].value <= 1e-6
        for means, spreads in (
            (model.means_ * (1 + 1e-3), model.spreads_),
            (model.means_, model.spreads_ * (1 + 1e-3)),
        ):
            value = proved(model, "map.likelihood", X, LABELS, weights, means_=means, spreads_=spreads).value
            assert value >= max(worst(means, spreads)) >= value / 1.01


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["rows", "weights"])
@pytest.mark.parametrize("smoothing", [0.0, 1e-9, 0.3])
def test_likelihood_equations_of_binary_columns(weights, smoothing):
    X = (table("plain", 6) > 0.2).astype(float)
    model = MAPClassifier("bernoulli", var_smoothing=smoothing).fit(X, LABELS, sample_weight=weights)
    parts, extra = list(by_class(X, weights)), Fraction(smoothing)
    total = sum(sum(s) for _, s in parts)

    def worst(means):
        for k, (rows, s) in enumerate(parts):
            mass = sum(s)
            yield abs(Fraction(float(model.class_prior_[k])) - mass / total)
            for j in range(D):
                share = (sum(w * row[j] for w, row in zip(s, rows, strict=True)) + extra) / (mass + 2 * extra)
                yield abs(Fraction(float(means[k, j])) - share)

    assert max(worst(model.means_)) <= Fraction(model.certificate_["map.likelihood"].value) <= Fraction(1, 10**9)
    wrong = 0.9 * model.means_
    value = Fraction(proved(model, "map.likelihood", X, LABELS, weights, means_=wrong).value)
    assert max(worst(wrong)) <= value <= max(worst(wrong)) * (1 + Fraction(1, 10**9))
