"""Near misses of what is understood: the message says what may have been meant."""

import pytest

import storyproof
from storyproof.errors import DataError

SCENE = "Ann and Bob are in the hall. The key is in the box."
MEANT = {
    (f"{SCENE} Ann mooved the key to the jar.", "Where is the key?"): "Did you mean 'Ann moved the key to the jar.'?",
    (f"{SCENE} Bob lefft the hall.", "Where is the key?"): "Did you mean 'Bob left the hall.'?",
    (SCENE, "Where is the kee?"): "Did you mean 'key'?",
    (SCENE, "Were will Ann look for the key?"): "Did you mean 'Where will Ann look for the key?'?",
    (SCENE, "Wher is the key?"): "Did you mean 'Where is the key really?'?",
    (
        f"{SCENE} The old man left the hall.",
        "Where is the key?",
    ): "People need a name, such as 'Ann' instead of 'The old man'.",
    (f"{SCENE} Ann puts it under the bed.", "Where is the key?"): "Objects can only be in something, not 'under' it.",
    ("Ben is here. Ann saw her neice Cora.", "What is Cora to Ann?"): "Did you mean 'niece'?",
    ("Ann is the mother of Ben. Ben saw Ann's brothr Carl.", "What is Carl to Ann?"): "Did you mean 'brother'?",
    ("Ann is the mother of Ben.", "What is Benn to Ann?"): "Did you mean 'Ben'?",
}


@pytest.mark.parametrize(("text", "question", "meant"), [(*asked, meant) for asked, meant in MEANT.items()])
def test_what_may_have_been_meant(text: str, question: str, meant: str) -> None:
    with pytest.raises(DataError) as refused:
        storyproof.story(text).ask(question)
    assert meant in str(refused.value)


def test_nothing_is_suggested_that_is_not_near() -> None:
    with pytest.raises(DataError) as refused:
        storyproof.story(f"{SCENE} Ann sang a song.").ask("Where is the key?")
    assert "Did you mean" not in str(refused.value)


def test_a_sentence_that_is_understood_is_not_named_as_the_problem() -> None:
    text = "Sally has a basket.\nAnne entered the hall.\nAnne sang a song."
    problems = storyproof.story(text).problems("Where will Anne look for the key?")
    assert problems[0].message == "sentence 3: not understood: 'Anne sang a song.'."
    assert {each.line for each in problems[1:]} == {3}


@pytest.mark.parametrize("sentence", ["Sally has a song.", "Sally opens a song."])
def test_a_known_or_unlike_word_is_not_taken_for_a_misspelt_one(sentence: str) -> None:
    problems = storyproof.story(f"{sentence}\nSally sang it.").problems("Where will Sally look for the key?")
    assert not {"hates", "loves"} & {fix for each in problems for fix in each.fixes}


def test_the_sentence_of_a_running_text_is_named_rather_than_the_whole_text() -> None:
    with pytest.raises(DataError) as refused:
        storyproof.story("Sally sang a song. The key is in the box.").ask("Where will Sally look for the key?")
    assert str(refused.value) == "story: sentence 1: not understood: 'Sally sang a song.'."
