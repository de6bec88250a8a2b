"""Readings and conventions of kinship in words, for people and prompts; `checker`, `strict` and `rules` define them."""

from __future__ import annotations

from storyproof.families.kinship.rules import PUBLISHED, STRICT

DESCRIPTIONS = {
    STRICT: "what holds in every family that fits the story.",
    PUBLISHED: "what the CLUTRR paper's sixteen rules derive.",
}

CONVENTIONS = (
    "Everybody has two parents, a man and a woman, who are married to each other.",
    "A couple shares all of its children; there are no step-, half-, foster or adopted relatives.",
    "Nobody has two spouses, now or earlier, and spouses share no ancestor.",
    "An uncle or aunt is a brother or sister of a parent, not somebody who married one.",
    "A nephew or niece is a child of a brother or sister.",
    "A brother-in-law or sister-in-law is a brother or sister of a spouse, or the spouse of a brother or sister.",
    "A father-in-law or mother-in-law is a parent of a spouse.",
    "A son-in-law or daughter-in-law is the spouse of a child.",
    "Different names are different people.",
)
