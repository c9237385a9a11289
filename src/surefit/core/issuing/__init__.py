"""How a certificate is issued: the draft of a fit, parameters as JSON values, digests of fitted attributes, what is said of new rows."""
