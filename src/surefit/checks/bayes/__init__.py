"""Checks posteriors, evidence and class-conditional distributions."""
