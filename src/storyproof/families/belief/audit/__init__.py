"""The audit of theory-of-mind rows: what is wrong in a row, and why."""
