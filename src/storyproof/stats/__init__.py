"""Statistics: confidence intervals and permutation tests."""
