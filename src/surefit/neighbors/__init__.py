"""Rules that look at the nearest training rows."""
