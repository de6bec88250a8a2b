"""What sentences take for granted: what is read from them, and what is not."""

import pytest

import storyproof
from storyproof.errors import DataError
from tests.families.kinship.language.texts import BAD, collection

GRANTED = (  # text, question, answer, what is read
    # whatever else is said: denials, conditions, reports, comparisons
    ("Ann asked her brother Ben if he could help.", "What is Ben to Ann?", "brother", "Ben is Ann's brother."),
    ("Ann doesn't like her brother Ben.", "What is Ben to Ann?", "brother", "Ben is Ann's brother."),
    (
        "Everyone said Dan looked just like his father, Ben.",
        "What is Ben to Dan?",
        "father",
        "Ben is Dan's father.",
    ),
    (
        "Ann was so excited to learn that her son Ben got accepted into college.",
        "What is Ben to Ann?",
        "son",
        "Ben is Ann's son.",
    ),
    (
        "Ann called Ben, her brother, to see if he wanted to go out.",
        "What is Ben to Ann?",
        "brother",
        "Ben is Ann's brother.",
    ),
    # relatives without a name beside people who are named by theirs
    ("Ann's son, Ben, asked his mom to read him a story.", "What is Ben to Ann?", "son", "Ben is Ann's son."),
    (
        "Paul asked his daughters Ann and Beth if they had seen it.",
        "What is Beth to Ann?",
        "sister",
        "Ann is Paul's daughter. Beth is Paul's daughter.",
    ),
    # statements
    (
        "Ann is a woman with a brother named Ben.",
        "What is Ben to Ann?",
        "brother",
        "Ben is Ann's brother.",
    ),
    (
        "Ann also has a brother named Ben, who plays the drums.",
        "What is Ben to Ann?",
        "brother",
        "Ben is Ann's brother.",
    ),
    (
        "Ann is the sister of Ben, and they fight every now and then.",
        "What is Ann to Ben?",
        "sister",
        "Ann is Ben's sister.",
    ),
    # names and other words that only look like words about step-kin and inventions
    (
        "Ann asked her brother Stephen if he could help.",
        "What is Stephen to Ann?",
        "brother",
        "Stephen is Ann's brother.",
    ),
    (
        "Ann asked her brother Ben if he had a wonderful time.",
        "What is Ben to Ann?",
        "brother",
        "Ben is Ann's brother.",
    ),
    (
        "Ann asked her brother Ben if he wanted to see a movie.",
        "What is Ben to Ann?",
        "brother",
        "Ben is Ann's brother.",
    ),
    # the name in a sentence of its own
    ("Ann enjoys talking to her brother. His name is Ben.", "What is Ben to Ann?", "brother", "Ben is Ann's brother."),
)
NOT_GRANTED = (
    "Ann told Carl that her brother Ben had won.",
    "Ann was not well. Her mother Eve had come so early that it rained, but her brother Ben was missing.",
    "In the movie Ann does not like her brother Ben.",
    "Ann wondered if her late brother Ben would like to see a movie.",
    "Ann told her brother Ben was ill.",
    "Ann gave her brother Ben's umbrella.",
    "When Ann called her brother Ben was out.",
    "After Ann saw her brother, Ben left without a word and did not come back.",
    "Ann did not like her brother, Ben or Carl.",
    "Ann brought her brother, Ben, and the neighbours, and was not sorry.",
    "Ann brought her brother, Ben and Carl.",
    "Ann never had a brother named Ben.",
    "Ann may have a brother named Ben.",
    "Ann thinks Ben is her brother.",
    "Ben is said to be Ann's brother.",
    "Ann dreamt of her brother Ben and didn't sleep.",
    "Ann pretended that her brother Ben had not come.",
    "Ann does not treat Ben as her brother Carl does.",
    "Ann didn't call her brother Ben Tom.",
    "Ann couldn't see Cora and her brother Ben.",
    "Ann does not have to see her brother's friend Ben.",
    "Ann didn't know the nurse of Carl who is Ben's brother.",
    "Ann's brother Ben, a boat, did not sink.",
    "Ann never liked her late husband Ben.",
    "Ann never liked her ex-husband Ben.",
    "Ann wasn't at home when her husband Ben left her.",
    "Ann asked her stepbrother Ben if he could help.",
    "Ann asked her great-uncle Ben if he could help.",
    "Ann and her mother asked her brother if Ben could help.",
    "Ann enjoys talking to her brother and her uncle. His name is Ben.",
    "Ann enjoys talking to her brother. Her name is Ben.",
)


@pytest.mark.parametrize(("text", "question", "answer", "stated"), GRANTED)
def test_what_is_taken_for_granted(text: str, question: str, answer: str, stated: str) -> None:
    found = storyproof.story(text).ask(question)
    assert (found.answer, found.is_confirmed) == (answer, True)
    assert " ".join(filter(None, (read for _, read in found.read_as))) == stated


@pytest.mark.parametrize("text", NOT_GRANTED)
def test_what_is_not_taken_for_granted(text: str) -> None:
    with pytest.raises(DataError):
        storyproof.story(text).ask("What is Ben to Ann?")


@pytest.mark.parametrize("name", BAD)
def test_no_text_that_the_reader_must_refuse_is_answered(name: str) -> None:
    answered = []
    for entry in collection(name):
        for claim in entry["claims"]:
            people = [word for word in claim.split() if word[0].isupper()]
            try:
                found = storyproof.story(entry["text"]).ask(f"What is {people[-1]} to {people[0]}?")
            except DataError:
                continue
            answered.append((entry["text"], found.read_as))
    assert not answered
