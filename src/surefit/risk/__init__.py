"""Risk certificates: what rows that took no part in training prove about any model that scikit-learn can fit."""
