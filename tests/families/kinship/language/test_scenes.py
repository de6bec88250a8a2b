"""Scenes: each of their sentences states its fact and nothing else, in the words that the reader knows."""

from __future__ import annotations

import re
from collections import Counter
from itertools import product

import pytest

from storyproof.families.kinship.language.frames import BEGIN, MARKS, THEN, Frame, make_frames, our_frames
from storyproof.families.kinship.language.reader import read, read_table
from storyproof.families.kinship.language.scenes import (
    Scene,
    check_frame,
    check_no_fact,
    check_passage,
    choices,
    our_scenes,
    passage_cases,
    sample,
)
from storyproof.families.kinship.relations import FEMALE, MALE, NAMES
from tests.groups import only_first

SCENES = our_scenes().scenes
FRAMES = [frame for scene in SCENES for frame in scene.frames]
WHOLE = [*FRAMES, *our_frames().spare]


@pytest.mark.parametrize("part", only_first(1, range(3)))
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_frame_states_its_fact_and_no_other(scene: Scene, part: int) -> None:
    """With a third of its relations and genders by default; neighbouring frames with others."""
    for number, frame in enumerate(scene.frames):
        check_frame(frame, slice((number + part) % 3, None, 3))


def test_a_spare_frame_states_its_fact_and_no_other() -> None:
    for frame in our_frames().spare:
        check_frame(frame)


def told(frame: Frame) -> list[tuple[str, tuple[str, str]]]:
    """Return the texts of a frame for a woman and a man, and their names."""
    relation = "SO" if "SO" in frame.relations else min(frame.relations)
    return [
        (sample(frame, relation, (FEMALE, MALE), words, clear=False), ("Leila", "Bertil")) for words in choices(frame)
    ]


def test_all_frames_are_read_as_arrays() -> None:
    """What has to be read on its own takes ten times as long."""
    every = [each for frame in WHOLE for each in told(frame)]
    _, others = read_table([f"The sun shone.\n{text}" for text, _ in every], [names for _, names in every])
    assert [every[number][0] for number in others] == []


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_passage_states_its_facts_and_no_others(scene: Scene) -> None:
    for passage in scene.passages:
        check_passage(passage, most=20)


def test_every_passage_may_be_used() -> None:
    """The facts of a passage are a chain, and of each shape there are passages for most pairs of relations."""
    pairs: Counter[tuple[str, ...]] = Counter()
    for scene in SCENES:
        for passage in scene.passages:
            assert next(passage_cases(passage, 20), None) is not None, passage.text
            pairs.update(product(*passage.relations[:2]))
    assert min(pairs[pair] for pair in product(NAMES, NAMES)) > 200


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_a_scene_has_frames_for_every_fact(scene: Scene) -> None:
    """Whatever the story has said: a scene has four facts at most, of which the first begins it."""
    young_or_new = {mark for mark in MARKS if mark.endswith(("new", "young"))}
    for a_is_main, b_is_main in product((False, True), repeat=2):
        wrong = {"A.other" if a_is_main else "A.main", "B.other" if b_is_main else "B.main", *young_or_new}
        for group, least in ((BEGIN, 1), (THEN, 3)):
            free = [
                frame
                for frame in scene.frames
                if frame.group == group and not frame.is_special
                if not wrong & {mark for mark, needed in zip(MARKS, frame.needs, strict=True) if needed}
            ]
            assert len({frame.kind for frame in free if frame.shows_owner and not frame.binds}) >= least
    assert len([passage for passage in scene.passages if passage.group == BEGIN]) >= 3
    for relation in NAMES:
        assert len({frame.kind for frame in scene.frames if relation in frame.relations}) >= 12


def test_whom_a_scene_is_about_is_said_where_it_matters() -> None:
    for scene in SCENES:
        if any("main}" in frame.text for frame in scene.frames if frame.group == THEN):
            assert any(True in frame.is_about for frame in scene.frames)
    [frame] = make_frames(BEGIN, "{B.main}{A} visited {A.his} {kin} {B}.", frozenset(NAMES), {})
    assert frame.is_about == (False, True)
    assert not any(frame.needs)


def test_there_are_scenes_enough_for_training_and_test() -> None:
    train, test = our_scenes().split("clutrr", 1)
    assert len(train.scenes) + len(test.scenes) == len(SCENES) >= 68
    assert len(test.scenes) >= 22
    assert not {scene.name for scene in train.scenes} & {scene.name for scene in test.scenes}


def test_no_sentence_is_in_two_frames() -> None:
    """A story may have both, of one relative, and no sentence twice; a pronoun may stand for the other person."""
    seen: dict[str, set[str]] = {}
    for scene in SCENES:
        for frame in scene.frames:
            for text, _ in told(frame):
                for sentence in re.sub("Leila's (?=husband|son|father|brother)|Her (?=husband)", "Her ", text)[
                    :-1
                ].split(". "):
                    seen.setdefault(re.sub("^(?:Leila|She) ", "She ", sentence), set()).add(frame.kind)
        for sentence in (*scene.openers, *scene.closers):
            seen.setdefault(sentence.removesuffix("."), set()).add(sentence)
    assert [sentence for sentence, kinds in seen.items() if len(kinds) > 1] == []


def test_no_frame_is_in_two_scenes() -> None:
    assert max(Counter(frame.text for frame in FRAMES).values()) == 1


@pytest.mark.parametrize("text", sorted({each for scene in SCENES for each in (*scene.openers, *scene.closers)}))
def test_openers_and_closers_state_nothing(text: str) -> None:
    check_no_fact(text)


@pytest.mark.parametrize("change", our_frames().changes)
def test_what_another_scene_begins_with_states_nothing(change: str) -> None:
    assert len(read(f"A gong sounded.\n{change}Omar's niece Freya sang.", ["Omar", "Freya"]).facts) == 1


def test_frames_are_in_the_past_tense_and_active() -> None:
    for frame in WHOLE:
        for text, _ in told(frame):
            text = re.sub(r'"[^"]*"', "", text)
            assert not re.search(r"\b(?:is|are|has|does)\b", text), text
            assert not re.search(r"\b(?:was|were|been|being) (?!even)\w+(?:wn|ught|ven|ken)\b(?! to\b| of\b)", text), (
                text
            )


def test_nobody_has_an_age_unless_the_story_allows_it() -> None:
    """Whoever goes to school is of the youngest generation of the story."""
    young = re.compile(r"\{([AB])\.young\}")
    pupils = [
        frame
        for frame in FRAMES
        if re.search(r"homework|babysat|bedtime|school bus|from school|to school ", frame.text)
    ]
    assert len(pupils) > 8
    assert [frame.text for frame in pupils if frame.is_special and not young.search(frame.text)] == []


def test_marks_are_no_part_of_the_text() -> None:
    marked = [frame for frame in FRAMES if any(frame.needs)]
    assert {mark for frame in marked for mark, needed in zip(MARKS, frame.needs, strict=True) if needed} >= {
        "A.young",
        "B.young",
    }
    assert not [
        frame.text
        for frame in marked
        if "." in "".join(re.findall(r"\{[^}]*\}", frame.unmarked_body)).replace("A.", "")
    ]


def test_relations_cause_what_happens() -> None:
    for relation, *_ in product(("child", "inv-child", "SO", "sibling", "grand", "inv-grand", "un", "inv-un")):
        assert len([frame for frame in FRAMES if frame.is_special and relation in frame.relations]) > 35
