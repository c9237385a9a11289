"""Conjugate priors: exact posteriors, predictive distributions and evidence."""

from surefit.bayes.conjugate.base import Conjugate, Mode
from surefit.bayes.conjugate.categories import BetaBernoulli, DirichletMultinomial
from surefit.bayes.conjugate.counts import GammaPoisson
from surefit.bayes.conjugate.normal import InverseGammaNormal, NormalInverseGamma, NormalNormal

__all__ = [
    "BetaBernoulli",
    "Conjugate",
    "DirichletMultinomial",
    "GammaPoisson",
    "InverseGammaNormal",
    "Mode",
    "NormalInverseGamma",
    "NormalNormal",
]
