"""Bases: feature maps after which linear models fit curves."""
