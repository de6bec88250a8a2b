"""Scenes from stories that people wrote: what is taken over, what is not, and that scenes can always be read."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.language.scenes import read_scene
from storyproof.families.kinship.paraphrases import write_scene

PEOPLE = ("Milan", "Rosa", "Rosalind")
OPENER = "The bells rang over the bay."


def scene_of(text: str) -> tuple[str, int]:
    found = write_scene(PEOPLE, text)
    assert found is not None
    return found


def test_a_scene_has_all_that_the_writer_supplied() -> None:
    content, count = scene_of(
        f"{OPENER} After the raffle, Milan bought a melon at the market. Rosa is Milan's sister. "
        "Beside the fountain, Rosa shared a cake with Milan. Rosalind painted the fence."
    )
    assert count == 6
    scene = read_scene(content, "scene.yaml")
    assert scene.openers == (OPENER,)
    assert scene.moments[0] == "after the raffle"
    assert scene.places[0] == "beside the fountain"
    assert [each.did for each in scene.alone[:2]] == ["bought a melon at the market", "painted the fence"]
    assert scene.alone[0].doing == "buying a melon at the market"
    assert scene.together[0].met == "shared a cake with"
    assert scene.together[0].joint == "shared a cake"
    assert min(map(len, (scene.moments, scene.places, scene.alone, scene.together))) > 4  # ours fill up the lists


@pytest.mark.parametrize(
    "sentence",
    [
        "Rosa is the sister of Milan.",  # a fact
        "Milan bought a present for his sister.",  # a word of kin
        "Milan bought a melon and ate it at once.",  # a second verb, which would keep its form
        "Milan noticed that it was late.",
        "Milan flibbered the fence.",  # a verb whose forms are not known
        "Milan shared a cake with Rosa and Rosalind.",
        "Milan painted Rosa's fence.",
        "Everybody knew Milan.",
        "On Sunday, Milan laughed!",
        "After a while, Milan laughed.",  # which the reader would take for a second clause
        "After the rain had stopped, Milan laughed.",
        "Milan.",
        "{} bought a {} melon.",
    ],
)
def test_what_else_a_writer_says_is_left_out(sentence: str) -> None:
    assert scene_of(f"{OPENER} {sentence}")[1] == 1


def test_without_an_opener_there_is_no_scene() -> None:
    assert write_scene(PEOPLE, "Milan bought a melon at the market.") is None
    assert write_scene(PEOPLE, "") is None


@given(st.lists(st.sampled_from([*PEOPLE, "bought", "a", "melon", "After", "the", "raffle,", "with", "\u2028", "é"])))
def test_every_scene_can_be_read(words: list[str]) -> None:
    content, count = scene_of(f"{OPENER} {' '.join(words)}. {OPENER}")
    scene = read_scene(content, "scene.yaml")
    assert count >= len(scene.openers) >= 1


@given(st.text())
def test_any_text_gives_a_scene_that_can_be_read_or_none(text: str) -> None:
    found = write_scene(PEOPLE, text)
    assert found is None or read_scene(found[0], "scene.yaml").openers
