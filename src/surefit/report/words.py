"""The problem that was solved, in words and as a formula."""

from __future__ import annotations

from typing import Any

from surefit.core.certificate import Certificate
from surefit.core.tables import number


def objective_in_words(certificate: Certificate) -> str:
    """Return one sentence that says what was minimised.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from surefit import Lasso
    >>> from surefit.report.words import objective_in_words
    >>> objective_in_words(Lasso(alpha=0.5).fit(*load_diabetes(return_X_y=True)).certificate_)
    'Half the mean squared error plus 0.5 times the sum of the absolute weights. The intercept is free: it is not penalised.'
    """
    problem = certificate.problem
    if problem["radius"] is not None:
        what = f"Half the mean squared error, while {_complexity(problem)} is at most {number(problem['radius'])}."
    else:
        terms = [
            f"{number(weight)} times {words}"
            for weight, words in (
                (problem["alpha"], "the sum of the absolute weights"),
                (problem["beta"] / 2, "the sum of the squared weights"),
            )
            if weight
        ]
        what = " plus ".join(["Half the mean squared error", *terms]) + "."
    if problem["positive"]:
        what += " No weight may be negative."
    free = "The intercept is free: it is not penalised." if problem["fit_intercept"] else "There is no intercept."
    return f"{what} {free}"


def _complexity(problem: dict[str, Any]) -> str:
    ratio = problem["l1_ratio"]
    if ratio == 1.0:
        return "the sum of the absolute weights"
    if ratio == 0.0:
        return "half the sum of the squared weights"
    return f"{number(ratio)} times the sum of the absolute plus {number((1 - ratio) / 2)} times that of the squared weights"


def objective_formula(certificate: Certificate) -> str:
    """Return the objective in matplotlib's mathtext."""
    problem = certificate.problem
    offset = "-b" if problem["fit_intercept"] else ""
    loss = rf"\frac{{1}}{{2n}}\sum_{{i=1}}^{{n}}\left(y_i-x_i^{{\top}}w{offset}\right)^2"
    variables = "w,b" if problem["fit_intercept"] else "w"
    l1, l2 = r"\sum_j|w_j|", r"\sum_j w_j^2"
    if problem["radius"] is not None:
        ratio = problem["l1_ratio"]
        size = {1.0: l1, 0.0: rf"\frac{{1}}{{2}}{l2}"}.get(ratio, rf"\rho\,{l1}+\frac{{1-\rho}}{{2}}{l2}")
        return rf"$\min_{{{variables}}}\;{loss}\quad\mathrm{{subject\ to}}\quad{size}\leq t$"
    terms = [loss]
    if problem["alpha"]:
        terms.append((r"\alpha\," if not problem["beta"] else r"\alpha\rho\,") + l1)
    if problem["beta"]:
        terms.append((r"\frac{\alpha}{2}\," if not problem["alpha"] else r"\frac{\alpha(1-\rho)}{2}\,") + l2)
    return rf"$P({variables})={'+'.join(terms)}$"


def formula_key(certificate: Certificate) -> str:
    """Say what the letters of the formula stand for, with their values."""
    problem, data = certificate.problem, certificate.data
    said = [f"n = {data['n_rows']} training rows", "w: one weight a feature"]
    if problem["fit_intercept"]:
        said.append("b: intercept")
    if problem["radius"] is not None:
        said.append(f"t = {number(problem['radius'])}")
    else:
        said.append(f"α = {problem['alpha'] + problem['beta']:.6g}")
    if 0 < problem["l1_ratio"] < 1:
        said.append(f"ρ = {number(problem['l1_ratio'])}")
    return "; ".join(said) + "."
