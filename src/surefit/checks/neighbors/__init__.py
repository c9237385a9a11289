"""Checkers of nearest-neighbor rules: the rows they keep, and the neighbors they find."""
