"""Certificates for models that other libraries fitted."""
