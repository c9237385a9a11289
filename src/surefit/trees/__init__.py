"""Decision trees: exact splits, pruning inside ``fit``, missing values, categories, and a certificate for every split."""
