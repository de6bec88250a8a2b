"""`composer`: what it reads, its laws, and its training in miniature."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

import storyproof
from storyproof.catalog import load
from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.kinship.curriculum import KinshipCurriculum
from storyproof.families.kinship.placeholders import ours
from storyproof.families.kinship.relations import WORDS
from storyproof.solvers.neural.composer import (
    FIRST_NAME,
    FIRST_WORD,
    NAMES,
    UNKNOWN,
    ComposerNetwork,
    ComposerSize,
    ComposerSolver,
    number_tokens,
    tokens_of,
)
from storyproof.solvers.neural.composer_training import (
    ComposerPlan,
    ComposerRun,
    _draw,
    join_stories,
    learn_words,
)
from storyproof.solvers.neural.drawn_training import Noise, train_drawn
from storyproof.solvers.solver import load_solver

TINY = {"stories": 300, "steps": 4, "batch": 8, "width": 16, "layers": 1, "workers": 1}
CPU = torch.device("cpu")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("composer") / "run"
    train_drawn(ComposerPlan, folder, {**TINY, "runs": 2}, device="cpu")
    return folder


@pytest.fixture(scope="module")
def examples() -> list[Example]:
    blocks = storyproof.stream("clutrr", seed=5, split="test", test_k=(2, 3, 5))
    return [row for number in range(9) for row in blocks[number].rows]


def test_facts_are_those_of_the_story_in_both_directions() -> None:
    family, confirmed = load("family", "kinship"), 0
    reasons: set[str] = set()
    for lesson in KinshipCurriculum(1).block(0)[:20]:
        assert len(lesson.facts) == 2 * len(lesson.chain)
        assert tuple(relation for _, relation, _ in lesson.facts[::2]) == lesson.chain
        assert (lesson.facts[0][0], lesson.facts[-2][2]) == lesson.asked
        for first, relation, second in lesson.facts:
            assert first in lesson.story
            assert relation in WORDS
            # The oracle is asked about the stated facts alone.
            question = f"What is {second} to {first}?"
            people = sorted({name for fact in lesson.facts for name in (fact[0], fact[2])})
            try:
                proved = family.prove_text(lesson.story, question, people).answer
            except DataError as error:
                reasons.add(str(error).partition("whether")[0])
                continue
            assert proved == relation
            confirmed += 1
    assert confirmed > 60
    # Of somebody in between, the text need not show the gender.
    assert reasons <= {"the story does not show "}


def test_tokens_are_words_marks_and_names() -> None:
    tokens = tokens_of("Soon Doğan's sister-in-law, Éva, came.\nHe smiled.")
    assert tokens == ("Soon", "Doğan", "'s", "sister-in-law", ",", "Éva", ",", "came", ".", "\n", "He", "smiled", ".")
    names: dict[str, int] = {}
    words = {word: 100 + number for number, word in enumerate(("soon", "'s", ",", ".", "he"))}
    numbers = number_tokens(tokens, words, names)
    assert names == {"Doğan": 0, "Éva": 1}
    assert numbers == [100, FIRST_NAME, 101, UNKNOWN, 102, FIRST_NAME + 1, 102, UNKNOWN, 103, 2, 104, UNKNOWN, 103]


def test_names_carry_nothing(trained: Path, examples: list[Example]) -> None:
    solver = ComposerSolver(trained, device="cpu")

    def renamed(example: Example) -> Example:
        graph = load("family", "kinship").graph(example)
        story, question = example.story, example.question
        for number, name in enumerate(graph.nodes):
            story, question = (
                story.replace(name, f"Xx{'a' * (number + 1)}"),
                question.replace(name, f"Xx{'a' * (number + 1)}"),
            )
        return replace(example, story=story, question=question)

    assert solver.predict([renamed(each) for each in examples]) == solver.predict(examples)


def test_padding_and_other_questions_change_nothing(trained: Path, examples: list[Example]) -> None:
    solver = ComposerSolver(trained, device="cpu")
    assert [solver.predict([each])[0] for each in examples] == solver.predict(examples)
    tokens = torch.randint(1, 60, (2, 30))
    longer = torch.cat([tokens, torch.zeros(2, 9, dtype=torch.long)], dim=1)
    assert torch.allclose(solver.network.read(tokens), solver.network.read(longer), atol=1e-4)


def test_a_table_composes_chains_of_any_length() -> None:
    network = ComposerNetwork(5, 3, ComposerSize(16, 1))
    # Relation 0 adds nothing, 1 after 1 is 2; nothing follows from anything else.
    table = torch.full((3, 3, 4), -20.0)
    table[..., 3] = 20.0
    for first, second, whole in ((0, 0, 0), (0, 1, 1), (1, 0, 1), (1, 1, 2), (0, 2, 2), (2, 0, 2)):
        table[first, second] = torch.tensor([20.0 * (place == whole) for place in range(3)] + [-20.0])
    network.table.data = table
    for chain in product(range(3), repeat=4):
        value = chain.count(1) + 2 * chain.count(2)
        if value <= 2:
            known = torch.nn.functional.one_hot(torch.tensor([chain]), 3).float()
            assert int(network.compose(known)[0].argmax()) == value


def test_certain_facts_whose_probabilities_are_rounded_up_end_the_search(trained: Path) -> None:
    solver, noise = ComposerSolver(trained, device="cpu"), torch.Generator().manual_seed(1)
    scores = 30.0 + 3.0 * torch.rand(1, NAMES, NAMES, len(solver.relations), generator=noise)
    read = torch.cat([torch.zeros_like(scores[..., :1]), scores], dim=-1).softmax(-1)[..., 1:]
    assert (read.sum(-1) > 1.0).any()
    assert len(solver.answer(scores, [(0, 1)])) == 1


def test_a_batch_is_learnt_by_heart() -> None:
    plan = ComposerPlan.of({**TINY, "width": 32, "rate": 0.01, "dropout": 0})
    words = learn_words(plan)
    stories = {name: value[:4] for name, value in _draw(plan, words, CPU).items()}
    run = ComposerRun(plan, 0, len(words), len(WORDS), stories, stories, CPU)
    optimizer = torch.optim.Adam(run.network.parameters(), 0.01)
    losses = []
    for _ in range(300):
        loss = run.reading_loss(stories, torch.arange(4)[:, None], Noise(torch.tensor(1)))
        loss = loss + run.composing_loss(stories, torch.arange(4))
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.4 < losses[0]


def test_answers_come_from_all_ways_of_at_most_three_facts() -> None:
    plan, people, relations = ComposerPlan.of(TINY), NAMES, 3
    run = ComposerRun(plan, 0, 5, relations, {}, {}, CPU)
    noise = torch.Generator().manual_seed(3)
    run.network.table.data = torch.randn(relations, relations, relations + 1, generator=noise)
    table = run.network.table.softmax(-1)[..., :-1]
    read = torch.zeros(2, people, people, relations)
    read[:, :5, :5] = torch.rand(2, 5, 5, relations, generator=noise)
    read[:, range(5), range(5)] = 0.0
    first, second = torch.tensor([[0, 3], [1, 2]]), torch.tensor([[1, 0], [4, 3]])

    def after(one: torch.Tensor, two: torch.Tensor) -> torch.Tensor:
        return torch.einsum("a,b,abc->c", one, two, table)

    total = run.compose_ways(read, first, second)
    for text, question in product(range(2), repeat=2):
        one, two, fact = int(first[text, question]), int(second[text, question]), read[text]
        between = [person for person in range(5) if person not in (one, two)]
        expected = fact[one, two].clone()
        for here in between:
            expected += after(fact[one, here], fact[here, two])
            for there in between:
                steps = fact[one, here], fact[here, there], fact[there, two]
                expected += (after(after(*steps[:2]), steps[2]) + after(steps[0], after(*steps[1:]))) / 2
        assert torch.allclose(total[text, question], expected, atol=1e-5)


def test_stories_are_learnt_by_heart_from_answers_alone() -> None:
    plan = ComposerPlan.of({**TINY, "steps": 600, "width": 32, "rate": 0.01, "dropout": 0, "answers": 1, "joined": 1})
    words = learn_words(plan)
    stories = {name: value[:4] for name, value in _draw(plan, words, CPU).items()}
    run = ComposerRun(plan, 0, len(words), len(WORDS), stories, stories, CPU)
    before = run.score()
    while run.step < plan.steps and (run.step % 20 or run.score() < 1.0):
        run.learn()
    assert before < 1.0 == run.score()
    # What a story states is never looked at, but for questions about it.
    blind = {**stories, "facts": stories["facts"].clone()}
    blind["facts"][:, 1::2] = -1
    rows, noise = torch.arange(4)[:, None], torch.tensor(7)
    assert torch.equal(run.answering_loss(blind, rows, Noise(noise)), run.answering_loss(stories, rows, Noise(noise)))


def test_stories_are_told_with_templates_of_ones_own(tmp_path: Path) -> None:
    collection: dict[str, dict[str, list[str]]] = {}
    for (words, genders), texts in ours().templates.items():
        if len(words) == 1:
            collection.setdefault("-".join(words), {})["-".join(genders)] = list(texts[:2])
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(collection), encoding="utf-8")
    told = {
        word for each in collection.values() for texts in each.values() for text in texts for word in tokens_of(text)
    }
    lessons = KinshipCurriculum(1, templates=str(path)).block(0)[:50]
    stories = {word for lesson in lessons for word in tokens_of(lesson.story) if word.islower()}
    assert stories <= told
    plan = ComposerPlan.of({**TINY, "templates": str(path)})
    assert set(learn_words(plan)) <= {word.lower() for word in told}


def test_joined_stories_have_names_of_their_own_and_their_facts() -> None:
    plan = ComposerPlan.of(TINY)
    words = learn_words(plan)
    stories = _draw(plan, words, CPU)
    rows = torch.arange(30).view(10, 3)
    tokens, facts = join_stories(stories["tokens"][rows].long(), stories["facts"][rows].long(), Noise(torch.tensor(2)))
    counts = set()
    for text, row in enumerate(rows.tolist()):
        each = tokens[text][tokens[text] > 0]
        lone = [stories["tokens"][story][stories["tokens"][story] > 0] for story in row]
        ends = torch.tensor([len(one) + 1 for one in lone]).cumsum(0).tolist()
        count = ends.index(len(each)) + 1
        counts.add(count)
        for number, (one, end) in enumerate(zip(lone[:count], ends, strict=False)):
            found, is_name = each[end - 1 - len(one) : end - 1], (one >= FIRST_NAME) & (one < FIRST_WORD)
            assert torch.equal(found - is_name * 10 * number, one.long())
        stated = facts[text][facts[text][:, 0] >= 0]
        own = [stories["facts"][story] for story in row[:count]]
        expected = [
            (one + 10 * number, two + 10 * number, relation)
            for number, some in enumerate(own)
            for one, two, relation in some.tolist()
            if one >= 0
        ]
        assert [tuple(each) for each in stated.tolist()] == expected
    assert counts == {1, 2, 3}


def test_equal_seeds_give_equal_weights(trained: Path, tmp_path: Path) -> None:
    train_drawn(ComposerPlan, tmp_path / "run", {**TINY, "runs": 1}, device="cpu")
    one, two = (ComposerSolver(folder, device="cpu", run=0).network for folder in (trained, tmp_path / "run"))
    for value, other in zip(one.parameters(), two.parameters(), strict=True):
        assert torch.equal(value, other)
    assert train_drawn(ComposerPlan, tmp_path / "run", {**TINY, "runs": 1}, device="cpu")["steps"] == [TINY["steps"]]
    with pytest.raises(ConfigError, match="another training"):
        train_drawn(ComposerPlan, tmp_path / "run", {**TINY, "runs": 2}, device="cpu")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"stepss": 3}, "composer has no option 'stepss'"),
        ({"steps": 0}, "steps is 0"),
        ({"width": 12}, "multiple of 8"),
        ({"joined": 4}, "joined is 4; use 3 at most"),
        ({"templates": 4}, "templates is 4; use a text"),
        ({"answers": "yes"}, "answers is 'yes'; use a number from 0 on"),
    ],
)
def test_bad_options_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ComposerPlan.of(options)


def test_a_folder_without_a_composer_and_other_questions_are_refused(tmp_path: Path, trained: Path) -> None:
    (tmp_path / "run.json").write_text(json.dumps({"model": "composer"}))
    with pytest.raises(DataError, match="no readable composer"):
        ComposerSolver(tmp_path)
    row = storyproof.stream("tomi", seed=1, split="test")[0].rows[0]
    with pytest.raises(ConfigError, match="was trained on"):
        load_solver(str(trained)).predict([row])
    row = replace(storyproof.stream("clutrr", seed=1, split="test")[0].rows[0], question="Who is who?")
    with pytest.raises(DataError, match="does not name two people"):
        load_solver(str(trained)).predict([row])
