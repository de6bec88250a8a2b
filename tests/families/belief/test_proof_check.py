"""Proofs hold by deletion, and proofs that do not are noticed."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from storyproof.audits.row_pass import examine_table
from storyproof.datasets.generate import make_benchmark
from storyproof.families.belief import proof_check, provers
from storyproof.families.belief.arrays import Flags, PlotArrays
from storyproof.families.belief.benchmarks import tomi, tomi_questions
from storyproof.families.belief.benchmarks.tom_k import PRESETS, TomK, TomKConfig
from storyproof.families.belief.proof_check import Columns, check_proofs
from storyproof.families.belief.questions import ASKS, Ask, QuestionArrays
from storyproof.families.belief.readings import DEFAULT_READING, TRUSTS, BeliefReading

STORIES = 120


@cache
def proved(preset: str, trust: str) -> tuple[PlotArrays, QuestionArrays, Flags]:
    """Return stories and questions of tom-k with the proofs of the oracle."""
    benchmark = TomK(TomKConfig(**{**PRESETS[preset], "trust": trust}), 5)
    drawn = benchmark.plots("test", 0)
    stories = drawn.stories.between(0, STORIES)
    asked = drawn.asked.between(0, STORIES * benchmark.rows_per_story("test"))
    return stories, asked, provers.derive(stories, asked, BeliefReading(trust=trust), []).proofs


@pytest.mark.parametrize("trust", TRUSTS)
@pytest.mark.parametrize("preset", ["easy", "medium", "hard"])
def test_every_proof_of_tom_k_holds(preset: str, trust: str) -> None:
    stories, asked, proofs = proved(preset, trust)
    assert set(asked.ask.tolist()) == set(range(len(ASKS)))
    assert not check_proofs(stories, asked, proofs, BeliefReading(trust=trust)).is_wrong.any()


@pytest.mark.parametrize("name", ["tomi", "tomi-matched", "tom-babi", "tom-babi-easy", "tom-k:plain"])
def test_every_proof_of_stories_in_plain_sight_holds(name: str) -> None:
    benchmark, _, preset = name.partition(":")
    made = make_benchmark(benchmark, 9, **({"preset": preset} if preset else {})).with_small_blocks()
    assert examine_table(made.part("test", 60, 0)).disagreements == []


def test_all_plots_of_tomi_have_proofs_that_hold() -> None:
    plots = tomi.SCRIPT.spell(tomi.all_bare())
    questions = tomi_questions.ask(plots)
    faults = check_proofs(plots, questions.arrays, questions.labels.proof, DEFAULT_READING)
    assert not faults.is_wrong.any()
    assert questions.labels.proof.any(axis=0).all()


def test_a_proof_without_one_of_its_sentences_is_noticed() -> None:
    stories, asked, proofs = proved("medium", "always")
    for last in (False, True):
        shorter = proofs.copy()
        row = len(proofs) - 1 - proofs[::-1].argmax(axis=0) if last else proofs.argmax(axis=0)
        shorter[row, np.arange(asked.count)] = False
        faults = check_proofs(stories, asked, shorter, DEFAULT_READING)
        assert faults.is_wrong[proofs.any(axis=0)].all()
        insufficient = np.flatnonzero(faults.insufficient)
        assert len(insufficient)
        for question in insufficient[:20]:
            assert faults.describe(int(question)).endswith("does not give the answer by itself")


def test_a_proof_with_one_sentence_more_is_noticed() -> None:
    stories, asked, proofs = proved("medium", "always")
    longer = proofs.copy()
    row = (~proofs).argmax(axis=0)
    longer[row, np.arange(asked.count)] = True
    faults = check_proofs(stories, asked, longer, DEFAULT_READING)
    assert faults.needless[row, np.arange(asked.count)].all()
    assert faults.is_wrong.all()
    assert faults.describe(0) == f"needlessly names sentence {row[0] + 1}"


def test_a_proof_is_empty_only_if_nobody_believes_anything() -> None:
    for preset in ("medium", "hard"):
        stories, asked, proofs = proved(preset, "always")
        empty = np.flatnonzero(~proofs.any(axis=0))
        assert set(asked.ask[empty].tolist()) <= {ASKS.index(Ask.BELIEVERS)}
        assert not provers.answer(stories, asked.pick(empty), DEFAULT_READING).any()


def test_faults_are_those_of_leaving_out_sentences_one_by_one() -> None:
    """Questions share the stories without a sentence; here every question has its own."""
    stories, asked, proofs = proved("medium", "always")
    random = np.random.default_rng(3)
    damaged = proofs ^ (random.random(proofs.shape) < 0.05)
    faults = check_proofs(stories, asked, damaged, DEFAULT_READING)
    simple = [ASKS.index(ask) for ask in (Ask.MEMORY, Ask.REALITY, Ask.BELIEF)]  # whose values are their answers
    for question in np.flatnonzero(np.isin(asked.ask, simple))[:60].tolist():
        number = np.array([question])

        def value(deleted: Flags, number: Columns = number) -> int:
            story = stories.pick(asked.story[number]).without(deleted[:, None])
            alone = replace(asked.pick(number), story=np.zeros(1, np.intp))
            return int(provers.check_codes(story, alone, DEFAULT_READING)[0])

        one = np.eye(len(stories.kind), dtype=np.bool_)
        named = damaged[:, question]
        whole = value(np.zeros(len(one), np.bool_))
        needed = np.array([value(each) != whole for each in one])
        matters = np.array([value(~named | each) != whole for each in one])
        assert (faults.missing[:, question] == (needed & ~named)).all()
        assert bool(faults.insufficient[question]) == (value(~named) != whole)
        assert (faults.needless[:, question] == (named & ~needed & ~matters)).all()


def test_beliefs_are_evaluated_in_batches_that_fit_into_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    stories, asked, _ = proved("medium", "always")
    values = proof_check._Values(stories, asked, DEFAULT_READING)
    [whole] = values.batches(1)
    assert asked.story[whole].tolist() == sorted(asked.story.tolist())
    most, versions = 150, 7
    monkeypatch.setattr(proof_check, "_AT_ONCE", most)
    batches = list(values.batches(versions))
    assert np.concatenate(batches).tolist() == whole.tolist()
    costs = np.cumsum(values._counts[whole] * versions)
    assert [
        set((part // most).tolist()) for part in np.split(costs, np.cumsum([len(each) for each in batches])[:-1])
    ] == [{number} for number in sorted(set((costs // most).tolist()))]
    assert len(batches) > 20
