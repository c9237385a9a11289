"""Selection: splitting data honestly, choosing what to measure next, and seeing bias and variance."""
