"""Support vector machines with ``nu``, an upper bound on the fraction of margin errors."""
