"""Basis expansions: feature maps for fitting curves with linear models."""
