"""Issuing of certificates: drafts, parameters as JSON values, digests of fitted attributes, and the statement about new data."""
