"""Distributions, likelihoods, priors and posteriors: optimal rules for known distributions, and inference for unknown ones."""

from surefit.bayes import conjugate

__all__ = ["conjugate"]
