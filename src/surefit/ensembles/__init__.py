"""Votes of many models: stumps, boosting, bagging and forests."""
