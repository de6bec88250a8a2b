"""Running text taken apart."""

from __future__ import annotations

import pytest

import storyproof
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ParseError
from storyproof.families.belief.language.pack import load_pack
from storyproof.families.belief.read_text import paragraphs
from storyproof.families.belief.sentence_split import divide_story, has_story, last_question, split_messages

SENTENCES = [
    "Ada entered the TV_room.",
    "Mary-Jane is in the TV_room.",
    "The t-shirt is in the green_box.",
    "Ada likes the jar",
    "Phone rang.",
    "Ada exited the TV_room.",
    "Mary-Jane moved the t-shirt to the jar.",
    "Ben hates the t-shirt",
]
STORY, QUESTION = "\n".join(SENTENCES), "Where does Mary-Jane think that Ada searches for the t-shirt?"
RUNNING = " ".join(SENTENCES)


@pytest.mark.parametrize(
    "text",
    [
        f"{RUNNING} {QUESTION}",
        f"{STORY}\n{QUESTION}",
        f"Read the story. Answer with one word.\n\n{RUNNING} {QUESTION}\nAnswer with the container only.",
        f"Story: {RUNNING}\n\nQuestion: {QUESTION}\nAnswer:",
        f"{RUNNING} Based on the story, answer this. {QUESTION}",
        "\n".join(f"{number}. {sentence}" for number, sentence in enumerate(SENTENCES, 1)) + f"\n9. {QUESTION}",
        "\n".join(f"- {sentence}" for sentence in SENTENCES) + f"\n{QUESTION}",
        f"Ben entered the hall. The key is in the box. Where is the key really? box\n\nNow you.\n{RUNNING} {QUESTION}",
        f"{RUNNING} Where is the t-shirt really? {QUESTION}",
        f"Whoever entered the room. sees all. {RUNNING} {QUESTION}".replace("Whoever", "who"),
        f"{RUNNING} {QUESTION}".replace("moved the", "moved\n the"),
    ],
)
def test_running_text(text: str) -> None:
    assert split_messages([text]) == (STORY, QUESTION)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (RUNNING, "no question mark"),
        (f"{RUNNING} Who are you?", "Who are you"),
        (f"{RUNNING} Where will Ada dance?", "Where will Ada dance?"),
        (f"{RUNNING} {QUESTION} Do you know?", "Do you know?"),
        (QUESTION, "no story"),
        (f"{RUNNING.replace('Phone rang.', 'Ada sang.')} {QUESTION}", "Ada sang."),
        (f"{RUNNING.replace('Phone rang.', 'A dog barked.')} {QUESTION}", "A dog barked."),
        (f"Ada is a girl. {RUNNING} {QUESTION}", "Ada is a girl."),
        (f"{RUNNING} The t-shirt fell. {QUESTION}", "The t-shirt fell."),
    ],
)
def test_what_cannot_be_read_is_said(text: str, found: str) -> None:
    with pytest.raises(ParseError, match=found.replace("?", r"\?")):
        split_messages([text])


def test_a_story_one_sentence_a_line() -> None:
    assert divide_story(STORY) == STORY
    assert divide_story(RUNNING) == STORY
    assert divide_story(f"1 {RUNNING}\n") == STORY
    for text in ("", "Once upon a time.", f"{RUNNING} The end.", f"Now, {RUNNING}"):
        with pytest.raises(ParseError, match="not a sentence"):
            divide_story(text)


def test_the_question_may_have_words_around_it() -> None:
    assert last_question(f"Question: {QUESTION} Be brief.") == QUESTION


def test_sentences_of_a_story_are_told_from_other_words() -> None:
    assert has_story(f"Read this: {RUNNING}")
    assert not has_story("Say who entered the room.")


@pytest.mark.parametrize("language", ["en", "de", "es", "zh"])
def test_narratives_are_shown_in_paragraphs_which_every_reader_takes(language: str) -> None:
    rows = make_benchmark("tom-k", 3, style="narrative", language=language).beginning("test", 0, 12).to_pylist()
    stories = {row["story"]: row for row in rows}
    for story, row in stories.items():
        text = paragraphs(story)
        scenes = text.split("\n\n")
        assert len(scenes) == 1 + sum(line.startswith(load_pack(language).times) for line in story.split("\n")[1:]) > 1
        assert "\n".join(scenes) == story
        assert text in storyproof.prompt(row).text
        assert split_messages([f"{text}\n\n{row['question']}"]) == (story, row["question"])
        assert divide_story(text) == divide_story(" ".join(text.split())) == story
        assert storyproof.story(text).ask(row["question"]).answer == row["answer"]
    assert paragraphs("Ada entered the hall.\nBen entered the hall.") == "Ada entered the hall.\nBen entered the hall."
    assert paragraphs("Neither is this\na story.") == "Neither is this\na story."
