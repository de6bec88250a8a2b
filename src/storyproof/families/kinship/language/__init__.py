"""Kinship in open-ended English: scenes and frames, the narrator that combines them, and the reader that undoes it."""
