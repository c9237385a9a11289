"""Checks of stumps, AdaBoost, forests, bagging, gradient boosting and stagewise fits."""
