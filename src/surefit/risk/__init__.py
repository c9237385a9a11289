"""Risk certificates: bounds on the risk of any scikit-learn model from rows that were not used for training."""
