from dataclasses import replace

import numpy as np
import pytest

from storyproof.errors import DataError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.neural.data.encoding import Encoded, draw_entities, encode, join, pad_rows
from storyproof.solvers.neural.data.vocabulary import (
    FIRST_WORD,
    PAD,
    UNKNOWN,
    TokenVocabulary,
    learn_vocabulary,
    merge_vocabularies,
    one_per_story,
    question_words,
    split_sentences,
    translate_numbers,
)
from tests.samples import STORY, changed, example
from tests.solvers.neural.fixtures import CLUTRR, EDGE_TYPES, TOMI, parts_of, some

both = pytest.mark.parametrize("family", [TOMI, CLUTRR])


def spelt(numbers: np.ndarray, vocabulary: TokenVocabulary, cast: dict[str, int]) -> list[str]:
    """Words from numbers."""
    names = {number: name for name, number in cast.items()}
    return [
        names[number] if number in names else "?" if number == UNKNOWN else vocabulary.words[number - FIRST_WORD]
        for number in numbers.tolist()
        if number != PAD
    ]


def known(words: list[str], vocabulary: TokenVocabulary, cast: dict[str, int]) -> list[str]:
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
        told, story = split_sentences(each.story), encoded.story_of[number]
        cast = draw_entities(each, vocabulary, 0)
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
    assert len(encoded.stories) == len(one_per_story(rows)) == 3
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
    with pytest.raises(DataError, match="names 3 people, but the model knows at most 2"):
        encode(rows, replace(learn_vocabulary(rows), pool=2))


def test_refuses_too_long_a_question() -> None:
    with pytest.raises(DataError, match="the question of '1' has 7 words, but the model reads at most 6"):
        encode([example()], learn_vocabulary([example()]), question=6)
    assert encode([example()], learn_vocabulary([example()]), question=9).questions.shape == (1, 9)


def test_refuses_nothing_to_learn_from() -> None:
    with pytest.raises(DataError, match="There are no examples to learn from"):
        learn_vocabulary([])


def test_padding() -> None:
    assert pad_rows([[1], [2, 3]]).tolist() == [[1, 0], [2, 3]]
    assert pad_rows([[1]], 3).tolist() == [[1, 0, 0]]
    assert pad_rows([]).shape == (0, 0)


def test_as_dict_has_no_numbers() -> None:
    vocabulary = learn_vocabulary([example()])
    plain = vocabulary.as_dict()
    assert "numbers" not in plain
    assert TokenVocabulary(**plain) == vocabulary


def test_order_of_examples_is_kept() -> None:
    rows: list[Example] = some(CLUTRR, 12)
    assert one_per_story([*rows, *rows]) == rows


def untold(encoded: Encoded, name: str) -> np.ndarray:
    """An array without its padding."""
    array: np.ndarray = getattr(encoded, name)
    for axis in range(1, array.ndim):
        there = array.any(axis=tuple(each for each in range(array.ndim) if each != axis))
        array = array.take(range(int(np.flatnonzero(there).max(initial=-1)) + 1), axis)
    return array


@both
def test_joined_examples_are_those_encoded_alone(family: str) -> None:
    parts = parts_of(family)
    vocabularies = [learn_vocabulary(rows) for rows in parts]
    whole = merge_vocabularies(vocabularies)
    encoded = [encode(rows, own) for rows, own in zip(parts, vocabularies, strict=True)]
    joined = join(encoded, vocabularies, whole)
    assert joined.first_entity == whole.first_entity
    start = stories = 0
    for rows, own, alone in zip(parts, vocabularies, encoded, strict=True):
        numbers = translate_numbers(own, whole)
        these, their = slice(start, start + len(rows)), slice(stories, stories + len(alone.stories))
        found = replace(
            joined,
            **{name: getattr(joined, name)[their] for name in ("stories", "flat", "nodes", "graphs")},
            **{name: getattr(joined, name)[these] for name in ("questions", "story_of", "query", "answers")},
        )
        for name in ("stories", "flat", "questions", "nodes"):
            assert np.array_equal(untold(found, name), numbers[untold(alone, name)])
        for name in ("graphs", "query"):
            assert np.array_equal(untold(found, name), untold(alone, name))
        assert np.array_equal(found.story_of - stories, alone.story_of)
        assert [whole.answers[each] for each in found.answers] == [each.answer for each in rows]
        start, stories = these.stop, their.stop
    assert len(joined) == start


def test_word_that_only_another_set_knows_stays_unknown() -> None:
    first, second = parts_of(TOMI)[:2]
    vocabularies = [learn_vocabulary(first), learn_vocabulary(second)]
    whole = merge_vocabularies(vocabularies)
    joined = join([encode(first, vocabularies[0]), encode(first, vocabularies[1])], vocabularies, whole)
    assert (joined.flat == UNKNOWN).sum() > 0
    assert len(set(vocabularies[0].words) - set(vocabularies[1].words)) > 5


def test_unknown_answers_stay_unknown() -> None:
    first, second = parts_of(TOMI)[:2]
    own = learn_vocabulary(first)
    encoded = encode([*first, replace(second[0], answer="nowhere")], own)
    assert join([encoded], [own], own).answers[-1] == -1
