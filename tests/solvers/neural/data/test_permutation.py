"""A story with an exchange of words has the answer with the same exchange: the oracle says so, from the text."""

import re
from dataclasses import replace

import numpy as np
import pytest
import torch

from storyproof.example import Example
from storyproof.solvers.baselines import Oracle
from storyproof.solvers.neural.data.batches import ExampleTable, WordPermutation, word_roles
from storyproof.solvers.neural.data.encoding import draw_entities, encode
from storyproof.solvers.neural.data.vocabulary import TokenVocabulary, learn_vocabulary
from tests.samples import examples
from tests.solvers.neural.fixtures import CLUTRR, CPU, TOMI, renamed, some


def permutation_of(rows: list[Example]) -> tuple[TokenVocabulary, WordPermutation]:
    vocabulary = learn_vocabulary(rows)
    return vocabulary, WordPermutation(word_roles(rows, vocabulary), vocabulary, CPU)


def retold(each: Example, exchange: torch.Tensor, vocabulary: TokenVocabulary, spelling: dict[str, str]) -> Example:
    """Write a theory-of-mind story with the words exchanged."""

    def other(text: str) -> str:
        def word(found: re.Match[str]) -> str:
            number = vocabulary.numbers.get(found[0].lower(), 0)
            new = int(exchange[number])
            return found[0] if new == number else spelling[vocabulary.words[new - 2]]

        return re.sub(r"[\w-]+", word, text)

    return replace(each, story=other(each.story), question=other(each.question), answer="")


def with_number(told: Example, plural: set[str]) -> Example:
    """Write "is" or "are" as the thing before or after it wants; exchanged things may differ in number."""
    forms = {"is": "are", "was": "were"}

    def agreeing(verb: str, thing: str) -> str:
        singular = {"are": "is", "were": "was"}.get(verb, verb)
        return forms[singular] if thing in plural else singular

    def fixed(text: str) -> str:
        text = re.sub(r"(the (\S+)) (is|are)\b", lambda m: f"{m[1]} {agreeing(m[3], m[2])}", text, flags=re.IGNORECASE)
        return re.sub(r"\b(is|are|was|were) (the (\S+))", lambda m: f"{agreeing(m[1], m[3])} {m[2]}", text)

    return replace(told, story=fixed(told.story), question=fixed(told.question))


@pytest.mark.parametrize("benchmark", [TOMI, "tomi-matched", "tom-babi", "tom-k"])
def test_oracle_confirms_the_exchanged_answer(benchmark: str) -> None:
    rows = list(examples(benchmark, "train", 12 if benchmark == "tom-babi" else 96)[:240])
    if benchmark == "tom-k":  # in the others some answers are no places, and cannot change
        rows = [each for each in rows if "order" in each.question_type]
    vocabulary, permutation = permutation_of(rows)
    spelling = {word.lower(): word for each in rows for word in re.findall(r"[\w-]+", each.story)}
    answers = torch.tensor([vocabulary.answers.index(each.answer) for each in rows])
    exchanges = permutation.draw(torch.arange(len(rows)) * 64 + 12345)
    wanted = permutation.permute_answers(exchanges, answers.unsqueeze(1)).flatten().tolist()
    told = [retold(each, exchange, vocabulary, spelling) for each, exchange in zip(rows, exchanges, strict=True)]
    plural = set(re.findall(r"[Tt]he (\S+) are ", " ".join(each.story for each in rows)))
    told = [with_number(each, plural) for each in told] if plural else told
    assert np.mean([new.story != old.story for new, old in zip(told, rows, strict=True)]) > 0.99
    assert np.mean([new != old for new, old in zip(wanted, answers.tolist(), strict=True)]) > 0.8
    assert Oracle().predict(told) == [vocabulary.answers[answer] for answer in wanted]


def test_answers_that_are_too_rare_to_be_words_stay_while_others_are_exchanged() -> None:
    rows = list(examples(TOMI, "train", 60))
    vocabulary, permutation = permutation_of(rows)
    rare = torch.tensor([answer not in vocabulary.numbers for answer in vocabulary.answers])
    assert 0 < rare.sum() < len(rare)
    answers = torch.arange(len(rare))
    exchange = permutation.draw(torch.tensor([5]))
    found = permutation.permute_answers(exchange, answers.unsqueeze(0))[0]
    assert torch.equal(found[rare], answers[rare])
    assert (found[~rare] != answers[~rare]).float().mean() > 0.5
    assert sorted(found.tolist()) == answers.tolist()


def test_words_of_answers_that_have_several_stay() -> None:
    rows = list(examples("tom-k", "train", 96)[:480])
    assert any(", " in each.answer for each in rows)
    vocabulary, permutation = permutation_of(rows)
    spelling = {word.lower(): word for each in rows for word in re.findall(r"[\w-]+", each.story)}
    answers = torch.tensor([vocabulary.answers.index(each.answer) for each in rows])
    exchanges = permutation.draw(torch.arange(len(rows)) * 64 + 12345)
    wanted = permutation.permute_answers(exchanges, answers.unsqueeze(1)).flatten().tolist()
    told = [retold(each, exchange, vocabulary, spelling) for each, exchange in zip(rows, exchanges, strict=True)]
    plural = set(re.findall(r"[Tt]he (\S+) are ", " ".join(each.story for each in rows)))
    told = [with_number(each, plural) for each in told] if plural else told
    assert Oracle().predict(told) == [vocabulary.answers[answer] for answer in wanted]


def test_oracle_confirms_that_kinship_does_not_change() -> None:
    rows = some(CLUTRR, 40)
    vocabulary, permutation = permutation_of(rows)
    answers = torch.tensor([vocabulary.answers.index(each.answer) for each in rows]).unsqueeze(1)
    exchanges = permutation.draw(torch.arange(len(rows)))
    assert torch.equal(permutation.permute_answers(exchanges, answers), answers)
    told = []
    for each, exchange in zip(rows, exchanges, strict=True):
        cast = draw_entities(each, vocabulary, 0)
        names = {name: f"Person{int(exchange[number])}" for name, number in cast.items()}
        assert len(set(names.values())) == len(names)
        told.append(renamed(each, names))
    assert Oracle().predict(told) == [each.answer for each in rows]


@pytest.mark.parametrize("family", [TOMI, CLUTRR])
def test_exchange_keeps_parts(family: str) -> None:
    rows = some(family, 90)
    vocabulary = learn_vocabulary(rows)
    parts = word_roles(rows, vocabulary)
    permutation = WordPermutation(parts, vocabulary, CPU)
    exchange = permutation.draw(torch.tensor([3, 4, 3]))
    assert torch.equal(exchange[0], exchange[2])
    assert not torch.equal(exchange[0], exchange[1])
    for each in exchange.numpy():
        assert sorted(each) == list(range(vocabulary.size))
        assert np.array_equal(parts[each], parts)
    assert torch.equal(permutation.draw(torch.tensor([4]))[0], exchange[1])  # whatever else is drawn


def test_exchanges_are_evenly_drawn() -> None:
    vocabulary = TokenVocabulary(("a", "b", "c"), ("a",), entities=False)
    permutation = WordPermutation(np.asarray([0, 1, 2, 2, 2]), vocabulary, CPU)
    found = permutation.draw(torch.arange(6000) * 64)
    for place in (2, 3, 4):
        shares = [float((found[:, place] == word).float().mean()) for word in (2, 3, 4)]
        assert max(abs(share - 1 / 3) for share in shares) < 0.02


def test_parts() -> None:
    rows = some(TOMI, 240)
    vocabulary = learn_vocabulary(rows)
    parts = word_roles(rows, vocabulary)
    groups: dict[int, set[str]] = {}
    for word, number in vocabulary.numbers.items():
        groups.setdefault(int(parts[number]), set()).add(word)
    large = sorted((words for words in groups.values() if len(words) > 1), key=len)
    assert len(large) in (4, 5)
    for words in large:
        assert not words & {"the", "entered", "where", "think"}
    answers = set(vocabulary.answers) & set(vocabulary.numbers)
    assert all(words <= answers or not words & answers for words in large)


def test_text_in_other_words_has_no_parts() -> None:
    rows = [replace(each, story=f"{each.story}\nIt was all quite odd, in truth.") for each in some(TOMI, 12)]
    vocabulary = learn_vocabulary(rows)
    assert np.array_equal(word_roles(rows, vocabulary), np.arange(vocabulary.size))


def test_step_retells_batch_and_answers_alike() -> None:
    rows = some(TOMI, 60)
    vocabulary, permutation = permutation_of(rows)
    table = ExampleTable(encode(rows, vocabulary), CPU)
    picked, noise = torch.arange(60).view(2, 30), torch.tensor([7, 8])
    batch, wanted = table.batch(picked, noise), table.answers[picked]
    new, answers = permutation(batch, wanted)
    exchange = permutation.draw(noise)
    for run in range(2):
        for name in ("story", "flat", "question", "nodes"):
            assert torch.equal(getattr(new, name)[run], exchange[run][getattr(batch, name)[run].long()])
        said = torch.tensor([vocabulary.numbers.get(answer, 0) for answer in vocabulary.answers])
        known = said[wanted[run]] > 0
        assert torch.equal(exchange[run][said[wanted[run]]][known], said[answers[run]][known])
