"""Changes of a narrated story: the reader refuses the changed story, or reads the changed facts, never the old ones.

What a change does to the facts is worked out here from the generator's facts and the words of the line, without the
reader.
"""

import re
from functools import cache

from hypothesis import assume, given
from hypothesis import strategies as st

from storyproof.families.kinship.language.reader import NotUnderstood, Reading
from storyproof.families.kinship.relations import WORDS, inverse, predicate_of
from tests.families.kinship.language.narrated import Canonical, Narrated, canonical, facts_of, narrate
from tests.families.kinship.language.texts import try_to_read
from tests.groups import try_examples

KIN = re.compile(rf"\b(?:{'|'.join(sorted(WORDS, key=len, reverse=True))})\b(?!-)")
PRONOUN = re.compile(r"\b(?:[Hh]is|[Hh]er|[Hh]e|[Ss]he|him|hers|himself|herself|[Tt]heir)\b")
OTHER_GENDER = {
    "his": "her", "her": "his", "he": "she", "she": "he", "him": "her", "hers": "his", "himself": "herself",
    "herself": "himself",
}  # fmt: skip


@cache
def stories() -> list[Narrated]:
    found = narrate(150, (2, 3, 4, 6), "clean", block=5) + narrate(80, (2, 3, 6), "all", block=5)
    return found + narrate(40, (2, 3), "all", block=5, text="plain")


PLAIN_STORY = st.integers(230, 269).map(lambda number: stories()[number])  # the others state nothing by "is"
STORY = st.integers(0, 269).map(lambda number: stories()[number])
CHANGES = try_examples(200)


def replace(text: str, start: int, end: int, new: str) -> str:
    return text[:start] + new + text[end:]


def rename(text: str, names: dict[str, str]) -> str:
    return re.sub(rf"\b(?:{'|'.join(names)})\b", lambda match: names[match[0]], text)


def named(story: Narrated, text: str) -> list[str]:
    """Return the people whom a part of a story names, in order."""
    places = {match.start(): name for name in story.names for match in re.finditer(rf"\b{re.escape(name)}\b", text)}
    return list(dict.fromkeys(places[place] for place in sorted(places)))


def own_facts(story: Narrated, line: str) -> frozenset[Canonical] | None:
    """Return the facts that a line states, if its words alone settle them: two people, one kin word, no pronoun."""
    people, kins = named(story, line), KIN.findall(line)
    if len(people) != 2 or len(kins) != 1 or PRONOUN.search(line):
        return None
    predicate = predicate_of(kins[0])
    one, other = people
    either = {canonical(one, predicate, other), canonical(other, predicate, one)}
    return frozenset(either & story.facts)


@CHANGES
@given(STORY, st.randoms(use_true_random=False))
def test_two_names_swapped_in_a_line(story: Narrated, random: object) -> None:
    lines = story.text.split("\n")
    settled = [number for number, line in enumerate(lines) if own_facts(story, line)]
    # The line after it must not depend on who is named here.
    settled = [each for each in settled if each + 1 == len(lines) or not PRONOUN.search(lines[each + 1])]
    assume(settled)
    place = random.choice(settled)  # type: ignore[attr-defined]
    one, other = named(story, lines[place])
    names = {one: other, other: one}
    changed = [*lines[:place], rename(lines[place], names), *lines[place + 1 :]]
    facts = own_facts(story, lines[place])
    assert facts is not None
    elsewhere = {fact for fact in story.facts if fact not in facts}
    expected = elsewhere | {canonical(names[a], predicate, names[b]) for a, predicate, b in facts}
    found = try_to_read("\n".join(changed), story.names)
    assert isinstance(found, NotUnderstood) or facts_of(found) == expected


@CHANGES
@given(STORY, st.data())
def test_a_kin_word_replaced(story: Narrated, data: st.DataObject) -> None:
    kins = list(KIN.finditer(story.text))
    match = data.draw(st.sampled_from(kins))
    word = data.draw(st.sampled_from([each for each in WORDS if each != match[0]]))
    found = try_to_read(replace(story.text, *match.span(), word), story.names)
    if isinstance(found, NotUnderstood):
        return
    # One relation has another word; whom it relates stays as it was.
    old, new = predicate_of(match[0]), predicate_of(word)
    pairs = {(a, b) for a, predicate, b in story.facts if predicate == old}
    pairs |= {(b, a) for a, predicate, b in story.facts if predicate == inverse(old)}
    candidates = [story.facts - {canonical(a, old, b)} | {canonical(a, new, b)} for a, b in pairs]
    assert facts_of(found) in candidates
    if old != new:
        assert facts_of(found) != story.facts
    else:  # another gender
        assert any(story.genders[name] != gender for name, gender in found.genders.items())


@CHANGES
@given(
    STORY,
    st.data(),
    st.sampled_from(["not ", "step", "step-", "late ", "used to be ", "half ", "former ", "ex-", "adopted ", "great-"]),
)
def test_a_word_before_a_kin_word(story: Narrated, data: st.DataObject, word: str) -> None:
    match = data.draw(st.sampled_from(list(KIN.finditer(story.text))))
    found = try_to_read(replace(story.text, match.start(), match.start(), word), story.names)
    assert isinstance(found, NotUnderstood)


@CHANGES
@given(PLAIN_STORY, st.data(), st.sampled_from(["not", "no longer", "never", "hardly", "used to be", "once", "almost"]))
def test_a_word_before_the_owner_of_a_relative(story: Narrated, data: st.DataObject, word: str) -> None:
    owner = re.compile(rf"\b(?:is|are|has)\b(?= (?:[\w'-]+ ){{0,3}}(?:{KIN.pattern}))")
    places = list(owner.finditer(story.text))
    assume(places)
    match = data.draw(st.sampled_from(places))
    assert isinstance(
        try_to_read(replace(story.text, match.end(), match.end(), f" {word}"), story.names), NotUnderstood
    )


@CHANGES
@given(STORY, st.data())
def test_a_comma_deleted(story: Narrated, data: st.DataObject) -> None:
    commas = list(re.finditer(",", story.text))
    assume(commas)
    match = data.draw(st.sampled_from(commas))
    found = try_to_read(replace(story.text, *match.span(), ""), story.names)
    # A comma can be missing without harm, but nothing else may become of the facts.
    assert isinstance(found, NotUnderstood) or facts_of(found) == story.facts


@CHANGES
@given(STORY, st.data())
def test_a_sentence_repeated(story: Narrated, data: st.DataObject) -> None:
    lines = story.text.split("\n")
    line = data.draw(st.sampled_from(lines))
    place = data.draw(st.integers(0, len(lines)))
    found = try_to_read("\n".join([*lines[:place], line, *lines[place:]]), story.names)
    assert isinstance(found, NotUnderstood)


@CHANGES
@given(STORY, st.data())
def test_a_pronoun_of_the_other_gender(story: Narrated, data: st.DataObject) -> None:
    # No fact depends on the others: "… gave him a nudge".
    pronouns = list(re.finditer(rf"\b(?:[Hh]is|[Hh]er)\b(?= {KIN.pattern})", story.text))
    assume(pronouns)
    match = data.draw(st.sampled_from(pronouns))
    word = OTHER_GENDER[match[0].lower()]
    word = word.capitalize() if match[0][0].isupper() else word
    found = try_to_read(replace(story.text, *match.span(), word), story.names)
    if isinstance(found, Reading) and facts_of(found) == story.facts:
        # Then the text has not shown that person's gender, and shows the other one now.
        assert any(story.genders[name] != gender for name, gender in found.genders.items())


@CHANGES
@given(STORY, st.data())
def test_a_fact_dropped(story: Narrated, data: st.DataObject) -> None:
    lines = story.text.split("\n")
    settled = [number for number, line in enumerate(lines) if own_facts(story, line)]
    settled = [each for each in settled if each + 1 == len(lines) or not PRONOUN.search(lines[each + 1])]
    assume(settled)
    place = data.draw(st.sampled_from(settled))
    facts = own_facts(story, lines[place])
    assert facts is not None
    found = try_to_read("\n".join(lines[:place] + lines[place + 1 :]), story.names)
    assert isinstance(found, NotUnderstood) or facts_of(found) == story.facts - facts
