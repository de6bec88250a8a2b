"""What makes a story doubtful as a whole: each rule with a story that breaks it and one that keeps it."""

from typing import NamedTuple

import pytest

from storyproof.families.kinship.language.reader import NotUnderstood, Reading, read_many
from tests.families.kinship.language.texts import possible_names, try_to_read


class Rule(NamedTuple):
    """A rule, a story that breaks it, part of the reason, where reading stops, and a story that keeps it."""

    name: str
    bad: str
    reason: str
    line: int
    words: str
    good: str


RULES = (
    Rule(
        "one job",
        "Omar has a niece called Freya.\nFreya works as a nurse.\nFreya works as a pilot.",
        "'works as'", 2, "works",
        "Omar has a niece called Freya.\nFreya swept the yard.\nFreya painted the gate.",
    ),
    Rule(
        "one job, by apposition",
        "Omar has a niece called Freya.\nFreya, a nurse, slept.",
        "descriptions of people", 2, "a",
        "Omar has a niece called Freya.\nFreya, tired, yawned.",
    ),
    Rule(
        "one age",
        "Omar has a niece called Freya.\nLittle Freya hummed.\nOld Freya snored.",
        "ages", 2, "Little",
        "Omar has a niece called Freya.\nFreya hummed.\nThen Freya snored.",
    ),
    Rule(
        "one place at a time",
        "Omar's niece Freya is in the cellar.\nFreya is on the roof.",
        "in two places at a time", 2, "Freya",
        "Omar's niece Freya is in the cellar.\nOmar is on the roof.",
    ),
    Rule(
        "one deed at a time",
        "Omar's niece Freya was asleep.\nMeanwhile Freya rowed.",
        "two things at a time", 1, "Omar",
        "Omar's niece Freya was asleep.\nMeanwhile Omar rowed.",
    ),
    Rule(
        "ages fit the family",
        "Omar rowed.\nHis son Karim is sixty.\nOmar is forty.",
        "ages are not understood", 2, "Karim",
        "Omar rowed.\nHis son Karim has sixty stamps.\nOmar yawned.",
    ),
    Rule(
        "a parent is older",
        "Omar's father Karim waved.\nKarim is younger than Omar.",
        "younger than", 2, "younger",
        "Omar's father Karim waved.\nKarim is taller than Omar.",
    ),
    Rule(
        "no sentence twice",
        "Omar's niece Freya rowed.\nThe sea was calm.\nOmar's niece Freya rowed.",
        "a sentence occurs twice", 3, "Omar",
        "Omar's niece Freya rowed.\nThe sea was calm.\nThen Freya yawned.",
    ),
    Rule(
        "no step-mother between the lines",
        "Omar's father, Suresh, waved to Suresh's wife, Sarah.",
        "step- or half-kin", 1, "Omar",
        "Omar's father, Suresh, waved to Suresh's brother, Ravi.",
    ),
    Rule(
        "no step-daughter between the lines",
        "Freya's husband, Omar, waved to Freya's daughter, Leila.",
        "step- or half-kin", 1, "Freya",
        "Freya's brother, Omar, waved to Freya's daughter, Leila.",
    ),
    Rule(
        "no separated parents",
        "Omar's son Karim rowed.\nKarim's mother Freya lives apart from Omar.",
        "lives apart", 2, "lives",
        "Omar's son Karim rowed.\nKarim's mother Freya lives next to the mill.",
    ),
    Rule(
        "no wedding of grown children's parents",
        "Omar's wife Freya waved.\nOmar and Freya married in the spring.\nFreya's son Karim rowed.",
        "weddings", 2, "married",
        "Omar's wife Freya waved.\nOmar and Freya danced in the spring.\nFreya's son Karim rowed.",
    ),
    Rule(
        "a grandfather, not the",
        "Karim is the grandfather of Omar.",
        "everybody has two", 1, "Karim",
        "Karim is a grandfather of Omar.",
    ),
    Rule(
        "the husband first",
        "Freya and Omar are wife and husband.",
        "husband first", 1, "Freya",
        "Omar and Freya are husband and wife.",
    ),
    Rule(
        "husband and wife in the order of the names",
        "Leila's daughter Freya rowed.\nFreya and Omar are husband and wife.",
        "both female and male", 2, "wife",
        "Leila's daughter Freya rowed.\nOmar and Freya are husband and wife.",
    ),
    Rule(
        "one wife",
        "Omar's wife Freya rowed.\nOmar's wife Leila slept.",
        "two spouses", 2, "Leila",
        "Omar's wife Freya rowed.\nOmar's mother Leila slept.",
    ),
    Rule(
        "one family tree",
        "Omar's son Karim rowed.\nKarim's son Ali slept.\nAli's son Omar waved.",
        "their own ancestor", 3, "Omar",
        "Omar's son Karim rowed.\nKarim's son Ali slept.\nAli's son Samir waved.",
    ),
)  # fmt: skip


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_a_story_that_breaks_a_rule_is_refused(rule: Rule) -> None:
    refused = try_to_read(rule.bad)
    assert isinstance(refused, NotUnderstood)
    assert rule.reason in refused.reason
    assert (refused.line, refused.words) == (rule.line, rule.words)


@pytest.mark.parametrize("rule", RULES, ids=[rule.name for rule in RULES])
def test_a_story_that_keeps_the_rule_is_read(rule: Rule) -> None:
    assert isinstance(try_to_read(rule.good), Reading)


def test_the_rules_hold_for_many_stories() -> None:
    texts = [text for rule in RULES for text in (rule.bad, rule.good)]
    found = read_many(texts, [sorted(possible_names(text)) for text in texts])
    assert [isinstance(each, Reading) for each in found] == [False, True] * len(RULES)
