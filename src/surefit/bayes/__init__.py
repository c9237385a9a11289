"""Laws, likelihoods, priors and posteriors: what is best when the law is known, and what to believe when it is not."""

from surefit.bayes import conjugate

__all__ = ["conjugate"]
