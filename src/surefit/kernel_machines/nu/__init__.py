"""Support vector machines with ``nu``, the share of rows that may be on the wrong side."""
