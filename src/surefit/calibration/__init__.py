"""Calibrated classifiers: probabilities from the scores of any classifier."""
