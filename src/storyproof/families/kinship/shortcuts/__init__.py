"""Probe kinship data for answers that need no composition of relations."""
