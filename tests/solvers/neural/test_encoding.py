from dataclasses import replace

import numpy as np
import pytest

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.encoding import (
    FIRST_WORD,
    PAD,
    UNKNOWN,
    Vocabulary,
    cast_of,
    encode,
    learn_vocabulary,
    one_a_story,
    padded,
)
from storyproof.solvers.neural.text import question_words, sentences_of
from tests.samples import STORY, changed, example
from tests.solvers.neural.lessons import CLUTRR, EDGE_TYPES, TOMI, some

both = pytest.mark.parametrize("family", [TOMI, CLUTRR])


def spelt(numbers: np.ndarray, vocabulary: Vocabulary, cast: dict[str, int]) -> list[str]:
    """Words from numbers."""
    names = {number: name for name, number in cast.items()}
    return [
        names[number] if number in names else "?" if number == UNKNOWN else vocabulary.words[number - FIRST_WORD]
        for number in numbers.tolist()
        if number != PAD
    ]


def known(words: list[str], vocabulary: Vocabulary, cast: dict[str, int]) -> list[str]:
    return [word if word in cast else word.lower() if word.lower() in vocabulary.numbers else "?" for word in words]


@both
@pytest.mark.parametrize("entities", [False, True])
def test_numbers_come_back_as_words(family: str, entities: bool) -> None:
    rows = some(family, 60)
    vocabulary = learn_vocabulary(rows, entities=entities)
    encoded = encode(rows, vocabulary)
    assert len(encoded) == 60
    assert vocabulary.size == vocabulary.first_entity + 50 * entities
    for number, each in enumerate(rows):
        told, story = sentences_of(each.story), encoded.story_of[number]
        cast = cast_of(each, vocabulary, 0)
        assert bool(cast) == entities
        assert spelt(encoded.flat[story], vocabulary, cast) == known([w for s in told for w in s], vocabulary, cast)
        for line, words in enumerate(told):
            assert spelt(encoded.stories[story, line], vocabulary, cast) == known(words, vocabulary, cast)
        assert not encoded.stories[story, len(told) :].any()
        assert spelt(encoded.questions[number], vocabulary, cast) == known(question_words(each), vocabulary, cast)
        assert vocabulary.answers[encoded.answers[number]] == each.answer


def test_graphs() -> None:
    rows = some(CLUTRR, 30)
    encoded = encode(rows, learn_vocabulary(rows))
    for number, each in enumerate(rows):
        story, people = encoded.story_of[number], family_of(each).people(each)
        assert (encoded.nodes[story] > 0).sum() == len(people)
        assert [people[place] for place in encoded.query[number]] == each.get("query")
        assert encoded.nodes[story][encoded.query[number]].tolist() == encoded.questions[number].tolist()
        for (first, second), kind in zip(each.get("edges") or (), each.get("edge_types") or (), strict=True):
            assert EDGE_TYPES[encoded.graphs[story, first, second]] == kind
            assert EDGE_TYPES[encoded.graphs[story, second, first]] == f"inverse {kind}"
        assert (encoded.graphs[story] > 0).sum() == 2 * len(each.get("edges") or ())


def test_noise_without_a_type_is_an_edge_of_its_own() -> None:
    each = some(CLUTRR, 1)[0]
    untyped = changed(each, edges=[*(each.get("edges") or ()), [0, 2]])
    graph = encode([untyped], learn_vocabulary([untyped])).graphs[0]
    assert graph[0, 2] == graph[2, 0] == EDGE_TYPES.index("unknown")
    again = changed(
        each, edges=[*(each.get("edges") or ()), *(each.get("edges") or ())]
    )  # what is told beside it counts
    assert (encode([again], learn_vocabulary([again])).graphs == encode([each], learn_vocabulary([each])).graphs).all()


def test_questions_of_a_story_share_it() -> None:
    rows = some(TOMI, 18)
    encoded = encode(rows, learn_vocabulary(rows))
    assert len(encoded.stories) == len(one_a_story(rows)) == 3
    assert encoded.story_of.tolist() == [0] * 6 + [1] * 6 + [2] * 6


def test_rare_words_are_unknown() -> None:
    rows = [
        example(story=f"{STORY}\nAda likes the {word}.", story_id=str(n)) for n, word in enumerate(["ox", "owl", "owl"])
    ]
    assert {"owl", "ox"} & set(learn_vocabulary(rows).words) == {"owl"}
    assert "ox" in learn_vocabulary(rows, at_least=1).words


def test_answer_that_was_never_heard() -> None:
    encoded = encode([example(answer="attic")], learn_vocabulary([example()]))
    assert encoded.answers.tolist() == [-1]


def test_people_are_drawn_anew_in_every_story() -> None:
    rows = some(CLUTRR, 60)
    vocabulary = learn_vocabulary(rows)
    encoded = encode(rows, vocabulary)
    drawn = encoded.nodes[encoded.nodes > 0]
    assert drawn.min() >= vocabulary.first_entity
    assert drawn.max() < vocabulary.size
    assert len(np.unique(drawn)) > 40
    for nodes in encoded.nodes:
        assert len(np.unique(nodes[nodes > 0])) == (nodes > 0).sum()
    assert np.array_equal(encode(rows, vocabulary).nodes, encoded.nodes)
    assert not np.array_equal(encode(rows, vocabulary, seed=1).nodes, encoded.nodes)


def test_refuses_too_many_people() -> None:
    rows = some(CLUTRR, 1)
    with pytest.raises(DataError, match="names 3 people, but the model was made for 2"):
        encode(rows, replace(learn_vocabulary(rows), pool=2))


def test_refuses_too_long_a_question() -> None:
    with pytest.raises(DataError, match="the question of '1' has 7 words, but the model was made for 6"):
        encode([example()], learn_vocabulary([example()]), question=6)
    assert encode([example()], learn_vocabulary([example()]), question=9).questions.shape == (1, 9)


def test_refuses_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="There are no examples to learn from"):
        learn_vocabulary([])


def test_padding() -> None:
    assert padded([[1], [2, 3]]).tolist() == [[1, 0], [2, 3]]
    assert padded([[1]], 3).tolist() == [[1, 0, 0]]
    assert padded([]).shape == (0, 0)


def test_as_dict_has_no_numbers() -> None:
    vocabulary = learn_vocabulary([example()])
    plain = vocabulary.as_dict()
    assert "numbers" not in plain
    assert Vocabulary(**plain) == vocabulary


def test_order_of_examples_is_kept() -> None:
    rows: list[Example] = some(CLUTRR, 12)
    assert one_a_story([*rows, *rows]) == rows
