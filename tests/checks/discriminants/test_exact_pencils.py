"""Moments, directions and rules of linear discriminants against matrices with many digits."""

import mpmath
import numpy as np
import pytest
from mpmath import mpf
from tests.checks.exact import SAMPLES, form, inner, matrix, number, numbers, require_upper, sample

import surefit

pytestmark = pytest.mark.usefixtures("digits")


class Pencil:
    """Class means, priors and scatter matrices between and within classes."""

    def __init__(self, X, y, w, priors=None, averaged=False):
        A, s, d = matrix(X), numbers(w), X.shape[1]
        self.d, K = d, int(y.max()) + 1
        groups = [[i for i in range(len(X)) if y[i] == k and s[i] > 0] for k in range(K)]
        totals = [mpmath.fsum(s[i] for i in rows) for rows in groups]
        self.shares = [t / sum(totals) for t in totals]
        self.priors = self.shares if priors is None else [number(v) for v in priors]
        self.means = [
            mpmath.matrix([mpmath.fsum(s[i] * A[i, j] for i in rows) / t for j in range(d)])
            for rows, t in zip(groups, totals, strict=True)
        ]

        def scatter(rows, mean):
            away = [(s[i], A[i, :].T - mean) for i in rows]
            return sum((v * (a * a.T) for v, a in away), mpmath.zeros(d))

        inside = [scatter(rows, m) for rows, m in zip(groups, self.means, strict=True)]
        self.pooled = sum(inside, mpmath.zeros(d)) / sum(totals)
        self.W = (
            sum((p * C / t for p, C, t in zip(self.priors, inside, totals, strict=True)), mpmath.zeros(d))
            if averaged
            else self.pooled
        )
        middle = sum((p * m for p, m in zip(self.priors, self.means, strict=True)), mpmath.zeros(d, 1))
        self.targets = [m - middle for m in self.means]
        self.B = sum((p * (t * t.T) for p, t in zip(self.priors, self.targets, strict=True)), mpmath.zeros(d))
        if averaged:  # scatter of all rows, less that within classes
            whole = [i for rows in groups for i in rows]
            mean = sum((v * m for v, m in zip(self.shares, self.means, strict=True)), mpmath.zeros(d, 1))
            self.B = scatter(whole, mean) / sum(totals) - self.W

    def eigenvalues(self):
        L = mpmath.cholesky(self.W)
        half = mpmath.inverse(L)
        M = half * self.B * half.T
        return list(mpmath.eigsy((M + M.T) / 2, eigvals_only=True))

    def value(self, rule):
        """Fisher's criterion of a rule with one direction per class."""
        return mpmath.fsum(
            p * (2 * inner(w, t) - form(w, self.W)) for p, w, t in zip(self.priors, rule, self.targets, strict=True)
        )


def moments_off(model, truth):
    """The largest error of class means, priors and intercepts, in the units that the claim names."""
    K, d = len(truth.means), truth.d
    deviations = [mpmath.sqrt(truth.pooled[j, j]) for j in range(d)]
    off = [
        abs(number(model.means_[k, j]) - truth.means[k][j]) / (abs(truth.means[k][j]) + deviations[j])
        for k in range(K)
        for j in range(d)
    ]
    off += [abs(number(v) - p) for v, p in zip(model.priors_, truth.priors, strict=True)]
    coef, intercept = [matrix(row).T for row in model.coef_], numbers(model.intercept_)
    if len(coef) == 1:
        coef, intercept = [mpmath.zeros(d, 1), *coef], [mpf(0), *intercept]
    for k in range(1, K):
        w, middle, odds = (
            coef[k] - coef[0],
            truth.means[k] + truth.means[0],
            mpmath.log(truth.priors[k] / truth.priors[0]),
        )
        terms = 1 + mpmath.fsum(abs(a * b) for a, b in zip(w, middle, strict=True)) + abs(odds)
        off.append(abs(intercept[k] - intercept[0] + inner(w, middle) / 2 - odds) / terms)
    return max(off)


@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("solver", ["svd", "eigen"])
@pytest.mark.parametrize("data", SAMPLES)
def test_directions_and_moments(data, solver, weighted):
    X, _, c, k, w = sample(data, n=12)
    w = w if weighted else np.ones(len(X))
    for y, count, priors in ((k, None, None), (k, 1, None), (k, None, [0.2, 0.3, 0.5]), (c, None, None)):
        model = surefit.LinearDiscriminantAnalysis(solver, n_components=count, priors=priors)
        model.fit(X, y, sample_weight=w if weighted else None)
        truth = Pencil(X, y, w, priors, averaged=solver == "eigen")
        eigenvalues, top = truth.eigenvalues(), max(truth.eigenvalues())
        shown = min(len(truth.means) - 1, 2, count or 2)
        V = [matrix(model.scalings_[:, j]).T for j in range(shown)]
        claim = model.certificate_["discriminant.directions"]
        ratios = [form(v, truth.B) / form(v, truth.W) for v in V]
        off = max(min(abs(r - e) for e in eigenvalues) for r in ratios)
        require_upper(claim, off, 1e-5 * top)
        require_upper(claim, max(abs(form(v, truth.W) - 1) for v in V), 1e-6, "unit")
        assert claim.numbers["count"] == shown
        require_upper(model.certificate_["discriminant.moments"], moments_off(model, truth), 1e-8)
        names = [found.name for found in model.certificate_.claims]
        if "discriminant.complete" in names:
            claim = model.certificate_["discriminant.complete"]
            above = sum(e > number(claim.numbers["threshold"]) for e in eigenvalues)
            assert max(above - claim.numbers["count"], 0) <= claim.value <= 1
        assert "discriminant.complete" in names or count is None


@pytest.mark.parametrize("data", SAMPLES)
def test_rules_in_a_span(data):
    X, _, c, k, w = sample(data, n=12)
    X = np.column_stack([X, X[:, 0]])  # dependent columns
    for y in (k, c):
        model = surefit.LinearDiscriminantAnalysis().fit(X, y, sample_weight=w)
        truth = Pencil(X, y, w)
        V = matrix(model.scalings_)
        M = V.T * truth.W * V
        best = mpmath.fsum(
            p * inner(V.T * t, mpmath.lu_solve(M, V.T * t)) for p, t in zip(truth.priors, truth.targets, strict=True)
        )
        rule = [matrix(row).T for row in model.coef_]
        if len(rule) == 1:
            rule = [-truth.priors[1] * rule[0], truth.priors[0] * rule[0]]
        middle = sum((p * v for p, v in zip(truth.priors, rule, strict=True)), mpmath.zeros(3, 1))
        rule = [v - middle for v in rule]
        require_upper(model.certificate_["discriminant.restricted_gap"], best - truth.value(rule), 1e-5 * best)
