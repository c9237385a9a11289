"""Checkers for models of other libraries: readers, claims of surefit's own families, and claims of audits only."""
