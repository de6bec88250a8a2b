"""Probe theory-of-mind data for answers that need no reasoning about belief."""
