"""The audit of kinship rows: what is wrong in a row, and why."""
