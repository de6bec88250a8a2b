from math import exp, log

import pytest

from storyproof.solvers.llm.choices import choose, first_token_scores


def test_spellings_of_a_letter_add_up() -> None:
    listed = [("A", log(0.2)), (" A", log(0.1)), ("B", log(0.25)), ("The", log(0.3))]
    scores = first_token_scores(("A", "B", "C"), listed)
    assert scores is not None
    assert [exp(score) for score in scores] == pytest.approx([0.3, 0.25, 0.0])


def test_only_letters_that_are_listed() -> None:
    assert first_token_scores(("box", "jar"), [("box", -1.0)]) is None  # may be several tokens
    assert first_token_scores(("A", "B"), [("The", -0.1)]) is None
    assert first_token_scores((), [("A", -1.0)]) is None


def test_likeliest_is_the_reply() -> None:
    reply = choose(("A", "B", "C"), (-2.0, -1.0, -1.0), read=7)
    assert (reply.text, reply.choice_scores, reply.prompt_tokens) == ("B", (-2.0, -1.0, -1.0), 7)
