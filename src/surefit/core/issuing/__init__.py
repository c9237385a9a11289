"""Issuing of certificates: the draft of a fit, parameters as JSON values, digests of fitted attributes, the statement about new rows."""
