"""Stories as people write them in German, Spanish and Chinese: how many are read, and all of these rightly."""

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.errors import DataError
from storyproof.families.belief.translation import language_of
from storyproof.io.bounded_input import parse_shipped

STORIES: list[dict[str, Any]] = parse_shipped(
    Path(__file__).with_name("other_languages.yaml").read_text(encoding="utf-8")
)


def answers() -> list[tuple[dict[str, Any], str]]:
    found = []
    for each in STORIES:
        try:
            found.append((each, storyproof.story(each["text"]).ask(each["question"]).answer))
        except DataError:
            continue
    return found


def test_most_are_read_and_none_wrongly() -> None:
    read = answers()
    assert [(each["text"], answer) for each, answer in read if answer != each["answer"]] == []
    counts = Counter(each["language"] for each, _ in read)
    assert Counter(each["language"] for each in STORIES) == {"de": 42, "es": 42, "zh": 42}
    assert counts["de"] >= 39
    assert counts["es"] >= 38
    assert counts["zh"] >= 40


def test_what_was_read_is_said() -> None:
    story = storyproof.story("Anna ist in der Küche. Der Schlüssel ist im Topf. Sie geht hinaus.")
    found = story.ask("Wo ist der Schlüssel?")
    assert found.answer == "Topf"
    assert ("Der Schlüssel ist im Topf.", "The Schlüssel is in the Topf.") in found.read_as


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Wo wird Lena den Ball suchen?", "Lena und Paul sind im Garten. Der Ball ist im Korb. Beide gehen hinaus."),
        (
            "Wo wird Lena den Ball suchen?",
            "Lena und Paul sind im Garten. Der Ball ist im Korb. Fast legte Paul den Ball in die Kiste.",
        ),
        (
            "Wo wird Lena den Ball suchen?",
            "Lena und Paul sind im Garten. Der Ball ist im Korb. Lena geht hinaus. Paul legt einen Ball in die Kiste.",
        ),
        (
            "¿Dónde buscará Lucía la pelota?",
            "Lucía y Pablo están en el jardín. La pelota está en la cesta. Ambos salen.",
        ),
        (
            "¿Dónde buscará Lucía la pelota?",
            "Lucía y Pablo están en el jardín. La pelota está en la cesta. Lucía sale. Casi pone la pelota en la caja.",
        ),
        (
            "¿Dónde buscará Lucía la pelota?",
            "Lucía y Pablo están en el jardín. La pelota está en la cesta. Pablo pone una pelota en la caja.",
        ),
        *(
            ("小红会去哪里找球？", f"小红和小明在花园里。球在篮子里。小红离开了花园。{last}")
            for last in (
                "大家把球放进了盒子里。",
                "小明差点把球放进了盒子里。",
                "小明打算把球放进盒子里。",
                "小明忘记把球放进盒子里。",
                "小明要把球放进盒子里。",
                "小红没把球放进盒子里。",
                "小明和谁把球放进盒子里。",
            )
        ),
    ],
)
def test_what_did_not_happen_is_not_read(question: str, text: str) -> None:
    with pytest.raises(DataError):
        storyproof.story(text).ask(question)


def test_a_question_that_is_not_understood_is_named_rather_than_the_story() -> None:
    story = storyproof.story("Mia und Jonas sind im Keller. Die Münze ist in der Dose.")
    with pytest.raises(DataError, match="not a question that is understood: 'Weiß Jonas, was Mia denkt"):
        story.ask("Weiß Jonas, was Mia denkt?")


def test_questions_show_the_language() -> None:
    questions = (
        "Wo ist der Ball?",
        "¿Dónde está la pelota?",
        "球在哪里？",
        "Where is the ball?",
        "What is Ann to Bob?",
    )
    assert [language_of(each) for each in questions] == ["de", "es", "zh", "", ""]
