"""Checks of posteriors, evidence and class-conditional distributions."""
