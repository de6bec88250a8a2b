"""Audit theory-of-mind files: what is wrong in a row, why, and the corrected file."""
