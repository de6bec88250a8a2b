"""The rules printed in the prompts suffice: a solver that knows nothing else answers every question."""

from collections.abc import Iterator
from itertools import islice

import pytest

import storyproof

from . import kinship
from .solver import Prompt, Rule, Solver, parse, rule_of, solve

TOM_K = ("plain", "easy", "medium", "hard", "extreme")
TRUSTS = ("fresher", "never-liars", "hi-tom")
SETTINGS: dict[str, tuple[str, dict[str, str]]] = {
    **{name: (name, {}) for name in ("tomi", "tomi-matched", "tom-babi", "tom-babi-easy")},
    **{f"tom-k {preset}": ("tom-k", {"preset": preset, "language": "en"}) for preset in TOM_K},
    **{f"tom-k {trust}": ("tom-k", {"preset": "medium", "language": "en", "trust": trust}) for trust in TRUSTS},
}

# The settings that are searched for rows that a sentence decides; the last three only for their own sentences.
POOLS: dict[str, tuple[str, ...]] = {
    **{name: (name,) for name in ("tomi", "tomi-matched", "tom-babi", "tom-babi-easy")},
    "tom-k": ("tom-k plain", "tom-k easy", "tom-k medium"),
    **{f"tom-k {trust}": (f"tom-k {trust}",) for trust in TRUSTS},
}
TRUST_RULES = {
    Rule.FRESHER,
    Rule.LEAVING,
    Rule.OTHERS_TRUST,
    Rule.HI_TOM,
    Rule.TIMES,
    Rule.NEVER_LIARS,
    Rule.CATCH,
}


def rows(setting: str, count: int, seed: int = 5) -> Iterator[tuple[str, Prompt, str]]:
    """The first questions of a setting: id, parsed prompt, answer key."""
    name, options = SETTINGS[setting]
    found = (row for story in storyproof.stream(name, seed=seed, **options) for row in story.rows)
    for row in islice(found, count):
        yield row.id, parse(storyproof.prompt(row).text), row.answer


def mistakes(setting: str, count: int, added: frozenset[Rule] = frozenset()) -> Iterator[str]:
    """The rows that the solver answers otherwise than the key, with some sentences added to the printed ones."""
    for name, prompt, key in rows(setting, count):
        rules = {rule_of(sentence) for sentence in prompt.rules}
        if Solver(prompt.story, rules=rules).answer(prompt.question) != key:
            yield name


@pytest.mark.parametrize("setting", SETTINGS)
def test_printed_rules_suffice(setting: str) -> None:
    assert list(mistakes(setting, 150)) == []


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS)
def test_printed_rules_suffice_for_many_questions(setting: str) -> None:
    assert list(mistakes(setting, 10_000)) == []


@pytest.mark.parametrize("pool", POOLS)
def test_every_sentence_is_needed(pool: str) -> None:
    printed: set[Rule] = set()
    decisive: set[Rule] = set()
    for setting in POOLS[pool]:
        for number, (_, prompt, key) in enumerate(rows(setting, 3000)):
            rules = {rule_of(sentence) for sentence in prompt.rules} - decisive
            if setting.split()[-1] in TRUSTS:
                rules &= TRUST_RULES
            if number > 600 and printed <= decisive:
                break
            printed |= rules
            if rules and solve(prompt) == key:
                decisive |= {rule for rule in rules if solve(prompt.without(rule)) != key}
    assert {rule.name for rule in printed - decisive} == set()


# Kinship, in the two styles whose sentences state one fact each.
KINSHIP: dict[str, dict[str, str]] = {
    f"{preset or 'default'} {text} {split}": {"text": text, "split": split} | ({"preset": preset} if preset else {})
    for preset in ("", "generalization-234", "robust-supporting", "robust-irrelevant", "robust-disconnected")
    for text in ("plain", "synthetic")
    for split in ("train", "test")
}


def kinship_rows(setting: str, count: int) -> Iterator[tuple[str, str, str]]:
    """The first questions of a setting: id, prompt, answer key."""
    found = (row for story in storyproof.stream("clutrr", seed=5, **KINSHIP[setting]) for row in story.rows)
    for row in islice(found, count):
        yield row.id, storyproof.prompt(row).text, row.answer


def kinship_mistakes(setting: str, count: int) -> list[str]:
    """The rows that the kinship solver answers otherwise than the key."""
    return [name for name, text, key in kinship_rows(setting, count) if kinship.solve(*kinship.parse(text)) != key]


@pytest.mark.parametrize("setting", KINSHIP)
def test_printed_kinship_rules_suffice(setting: str) -> None:
    assert kinship_mistakes(setting, 50) == []


@pytest.mark.slow
@pytest.mark.parametrize("setting", KINSHIP)
def test_printed_kinship_rules_suffice_for_many_questions(setting: str) -> None:
    assert kinship_mistakes(setting, 10_000) == []


def test_every_kinship_sentence_is_needed() -> None:
    decisive: set[kinship.Rule] = set()
    for _, text, key in kinship_rows("default plain test", 300):
        rules, facts, question = kinship.parse(text)
        assert rules == set(kinship.Rule)
        if len(facts) > 3:  # too many families fit the longer ones if names may stand for the same person
            continue
        decisive |= {rule for rule in rules - decisive if kinship.solve(rules - {rule}, facts, question) != key}
    assert decisive == set(kinship.Rule)
