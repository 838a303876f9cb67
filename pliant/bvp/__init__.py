"""Strong-form solvers: the rod equations as boundary-value problems in arclength."""
