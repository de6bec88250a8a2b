"""Audit kinship files: what is wrong in a row, why, and the corrected file."""
