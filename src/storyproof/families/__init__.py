"""Families: kinds of reasoning, each a vertical slice behind one protocol (`family`)."""

from storyproof.families.family import Family, Graph, Picture, families, family_of, load_family, recognise

__all__ = ["Family", "Graph", "Picture", "families", "family_of", "load_family", "recognise"]
