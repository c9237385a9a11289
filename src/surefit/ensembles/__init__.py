"""Ensembles: stumps, boosting, bagging and random forests."""
