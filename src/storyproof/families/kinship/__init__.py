"""Kinship: who is what to whom."""
