"""How each family is fitted to partitioned rows: the problem from the parameters, passes for its solver, then the claims of one machine."""
