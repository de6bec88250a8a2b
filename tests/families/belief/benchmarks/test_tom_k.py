"""Stories of tom-k: dials, presets, words, languages, and what its rows say."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import storyproof
from storyproof.audits.row_pass import examine_table
from storyproof.benchmark import Benchmark
from storyproof.datasets.generate import make_benchmark
from storyproof.errors import ConfigError, ParseError, ProofError
from storyproof.evaluation.matching.matchers import MATCHERS, judge
from storyproof.example import SPLITS, Example
from storyproof.families.belief.arrays import LocalNames, decode_plot
from storyproof.families.belief.benchmarks import plain_plots
from storyproof.families.belief.benchmarks.plain_plots import PlainPlots, plot_keys
from storyproof.families.belief.benchmarks.plot_sampler import PlotDials, draw_plots, draw_plots_of_sizes
from storyproof.families.belief.benchmarks.tom_k import KINDS, PRESETS, TomK, TomKConfig
from storyproof.families.belief.provers import CheckedStory
from storyproof.families.belief.questions import Ask
from storyproof.families.belief.read_text import is_nested, read_question, read_story
from storyproof.families.belief.readings import DEFAULT_READING
from storyproof.families.belief.rows import READINGS
from storyproof.families.belief.tomi_labels import Labels, label
from storyproof.families.belief.tomi_rows import prove
from storyproof.families.belief.tomi_text import parse
from storyproof.families.belief.world import MESSAGES, EventKind
from storyproof.families.family import load_family
from storyproof.generation.seeds import Draws
from storyproof.integrations.curriculum import Curriculum
from storyproof.language.answer_language import language_of

FAMILY = load_family("belief")
SETTINGS: dict[str, dict[str, Any]] = {
    **{name: {"preset": name} for name in ("easy", "medium", "hard", "plain")},
    "narrative": {"style": "narrative"},
    "German": {"language": "de", "style": "narrative", "order": 2},
    "unknown": {"unknown": True, "order": 2, "questions": ("common", "says")},
    "never-liars": {"trust": "never-liars", "order": 2, "lies": 2},
}


def small(stories: int = 24, seed: int = 5, **settings: Any) -> Benchmark:
    return make_benchmark("tom-k", seed, **settings).with_blocks_of(stories)


@cache
def made(name: str) -> pa.Table:
    return small(**SETTINGS[name]).block("test", 0)


def examples(name: str) -> list[Example]:
    return [Example.from_row(row, "belief") for row in made(name).to_pylist()]


@pytest.mark.parametrize("name", SETTINGS)
def test_every_row_is_verified_from_its_text(name: str) -> None:
    report = examine_table(made(name))
    assert report.findings == []
    assert not report.unchecked


@pytest.mark.parametrize("name", SETTINGS)
def test_rows_have_what_the_dials_ask_for(name: str) -> None:
    made_with = small(**SETTINGS[name])
    config = made_with.config
    assert isinstance(config, TomKConfig)
    for row in made(name).to_pylist():
        assert row["answer"] in row["candidates"]
        assert len(row["candidates"]) > 1
        assert is_nested(row["story"], row["question"]) == (config.style != "tomi")
        if config.style == "tomi":
            assert row["question_type"].split("_")[0] in ("memory", "reality", "first", "second")
            assert 2 <= len(FAMILY.people(Example.from_row(row))) <= config.agents
            continue
        text = read_story(row["story"])
        kinds = Counter(event.kind for event in text.events)
        assert len(text.cast) == config.agents
        assert (kinds[EventKind.PLACE], kinds[EventKind.MOVE]) == (config.objects, config.moves)
        assert (kinds[EventKind.PEEK], kinds[EventKind.DISTRACT]) == (config.peeks, config.distractions)
        assert sum(event.lie for event in text.events) == config.lies
        assert sum(kinds[kind] for kind in MESSAGES) == config.tells + config.lies
        assert row["readings"][0] == f"open+{config.trust}"
        assert text.wording.language == config.language


def test_each_story_has_one_question_of_every_order() -> None:
    for name in ("easy", "hard"):
        order, rows = PRESETS[name]["order"], examples(name)
        per_story = Counter(each.story_id for each in rows)
        assert set(per_story.values()) == {order + 2}
        for depth in range(1, order + 1):
            kind = {1: "first_order", 2: "second_order", 3: "third_order", 4: "fourth_order"}[depth]
            assert sum(FAMILY.kind(each) == kind for each in rows) == len(per_story)
    kinds = {str(read_question(each.question).ask) for each in examples("hard")}
    assert kinds == {*KINDS, "belief"}


def test_questions_without_an_answer_are_kept_only_on_request() -> None:
    assert any(each.answer == "unknown" for each in examples("unknown"))
    assert all("unknown" in each.candidates for each in examples("unknown") if each.order)
    assert all("unknown" not in each.candidates for each in examples("hard"))


def test_plain_stories_are_those_of_tomi_in_equal_numbers_of_each_type() -> None:
    rows = made("plain").to_pylist()
    assert set(Counter(row["story_type"] for row in rows).values()) == {24 * 6 // 3}
    assert all(set(row["readings"]) <= {"open", "closed", "infer-mover"} for row in rows)
    assert all(parse(row["story"]) for row in rows)


def test_plain_stories_have_the_labels_that_follow_from_their_text() -> None:
    for settings in ({}, {"agents": 6, "rooms": 3, "moves": 3, "distractors": 3}, {"length": 18}):
        table = make_benchmark("tom-k", 11, preset="plain", **settings).beginning("test", 1, 300)
        story = table["story"].combine_chunks()
        proved = prove(story.dictionary, story.indices.to_numpy(), table["question"].combine_chunks())
        assert not proved.problems
        assert len(proved.rows) == table.num_rows
        for name, column in proved.columns.items():
            assert column.to_pylist() == table[name].to_pylist(), name


@pytest.mark.parametrize(
    ("part", "spoil", "message"),
    [
        ("by_reading", lambda codes: np.where(codes == 0, 1, 0).astype(np.int8), "oracle and checker differ"),
        ("proof", np.zeros_like, "a proof lacks sentence"),
        ("place", lambda place: np.full_like(place, -1), "has no answer"),
    ],
)
def test_plain_stories_whose_labels_do_not_hold_are_not_shipped(
    part: str, spoil: Callable[[Any], Any], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def label_wrongly(*asked: Any) -> Labels:
        labels = label(*asked)
        return replace(labels, **{part: spoil(getattr(labels, part))})

    benchmark = make_benchmark("tom-k", 11, preset="plain")
    assert benchmark.beginning("test", 1, 6).num_rows == 36
    monkeypatch.setattr(plain_plots, "label", label_wrongly)
    with pytest.raises(ProofError, match=message):
        benchmark.beginning("test", 1, 6)


def test_plain_stories_are_drawn_once_for_a_dataset_and_its_manifest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    drawn, draw = list[int](), PlainPlots.draw

    def count_draws(plots: PlainPlots, draws: Draws, count: int) -> plain_plots.PlainBlock:
        drawn.append(count)
        return draw(plots, draws, count)

    monkeypatch.setattr(PlainPlots, "draw", count_draws)
    manifest = storyproof.generate("tom-k", preset="plain", train=4000, test=30, out=tmp_path / "data")
    assert manifest["plots"]["train"]["stories"] == 4000
    assert drawn == [3072] * 3


@pytest.mark.parametrize("is_scarce", [False, True])
def test_plain_stories_of_all_sizes_are_those_that_are_drawn_one_size_after_the_other(
    is_scarce: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = [PlotDials(agents=agents, moves=moves, walks=16, gathering=0) for agents in (2, 5) for moves in (1, 2)]
    if is_scarce:  # of one size too few are complete at first
        sizes.insert(2, PlotDials(agents=8, moves=2, walks=0, gathering=0))
    returns, return_to = list[Any](), Draws.return_to
    monkeypatch.setattr(Draws, "return_to", lambda draws, place: (returns.append(place), return_to(draws, place)))
    one_by_one, together = Draws("sizes"), Draws("sizes")
    expected = [draw_plots(each, one_by_one, 40) for each in sizes]
    for found, right in zip(draw_plots_of_sizes(sizes, together, 40), expected, strict=True):
        for name in ("kind", "agent", "room", "thing", "container"):
            assert np.array_equal(getattr(found.stories, name), getattr(right.stories, name)), name
        assert found.stories.agents == right.stories.agents
    assert one_by_one.below(1000, 4).tolist() == together.below(1000, 4).tolist()
    assert bool(returns) == is_scarce


def test_plots_that_differ_in_names_only_have_one_key() -> None:
    plots = PlainPlots(3, PlotDials(agents=3, rooms=2, objects=1, moves=2, noise=1, walks=4))
    block = plots.draw(Draws("keys"), 60)
    assert len(set(plot_keys(block))) > 55
    agents = block.stories.agent
    others = np.where(agents < 0, agents, (agents + 1) % 3).astype(np.int8)
    renamed = replace(block, stories=replace(block.stories, agent=others))
    assert plot_keys(renamed) == plot_keys(block)


def test_the_manifest_states_shares_by_order_and_plots() -> None:
    found = small().notes({"test": 24})["balance"]["shares"]["test"]
    assert set(found) == {"1", "2", "3"}
    for order, shares in found.items():
        assert ("differs_from_lower_order" in shares) == (order != "1")
        assert all(0 <= share <= 1 for share in shares.values())
    plain = small(preset="plain")
    notes = plain.notes({"train": 48, "test": 24})
    assert notes["plots"]["train"] == {"stories": 48, "distinct": 48}
    assert notes["plots"]["test"]["in_train"] == 0
    assert plain.remarks(notes)[1].startswith("test: 24 different plots; 0.00%")


def test_words_are_kept_disjoint_between_splits() -> None:
    found = small(6, disjoint=("agents", "objects"), order=1)
    names, things = ([set[str]() for _ in SPLITS] for _ in range(2))
    for number, split in enumerate(SPLITS):
        for row in found.block(split, 0).to_pylist():
            events = read_story(row["story"]).events
            names[number] |= {event.agent for event in events if event.agent}
            things[number] |= {event.thing for event in events if event.thing and event.container}
    for sets in (names, things):
        assert sum(map(len, sets)) == len(set.union(*sets))


def test_a_curriculum_turns_its_dials() -> None:
    curriculum = Curriculum("tom-k", {"order": (1, 3), "tells": (0, 2)}, target=0.7, window=2)
    assert curriculum.settings == {"order": 1, "tells": 0}
    assert curriculum.update([1, 1]) != {"order": 1, "tells": 0}


@pytest.mark.parametrize("settings", [{}, {"agents": 2, "order": 1, "lies": 0, "tells": 0, "distractors": 0}])
def test_the_greatest_length(settings: dict[str, Any]) -> None:
    table = TomK(TomKConfig(length=120, **settings)).beginning("test", 0, 4)
    assert {story.count("\n") + 1 for story in table["story"].to_pylist()} == {120}


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"order": 9}, "--order is 9; use a whole number from 1 to 8"),
        ({"moves": 0, "tells": 0, "lies": 0}, "every object has one place only"),
        ({"rooms": 1}, "--peeks is 1, but there is one room only"),
        ({"agents": 7}, "use at most 6, or leave them out"),
        ({"length": 10}, "--length is 10, but everybody"),
        ({"trust": "never"}, "value of --trust"),
        ({"language": "fr"}, "language"),
        ({"style": "tomi"}, "--style tomi has only comings"),
        ({"style": "tomi", "language": "de"}, "style of 'de'"),
        ({"questions": ("why",)}, "value of --questions 'why'"),
        ({"disjoint": ("verbs",)}, "value of --disjoint 'verbs'"),
        ({"questions": "common"}, "expected a list"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        TomKConfig(**settings)


def test_dials_list_their_ranges() -> None:
    dials = storyproof.dials("tom-k")
    assert (dials["order"].least, dials["order"].most) == (1, 8)
    assert dials["trust"].choices[0] == dials["trust"].default == "always"
    assert dials["language"].choices == ("en", "de", "es", "zh")


@pytest.mark.parametrize("language", ["en", "de", "es", "zh"])
def test_questions_are_recognised_as_of_their_language(language: str) -> None:
    table = small(language=language, preset="extreme").block("test", 0)
    rows = table.select(["question", "question_type"]).to_pylist()
    assert len({row["question_type"] for row in rows}) > 15
    for row in rows:
        assert language_of(row["question"]) == language, row


def test_sets_of_people_are_matched_whole() -> None:
    rows = [each for each in examples("hard") if each.question_type == "believers"]
    several = next(each for each in rows if "," in each.answer)
    one = several.answer.split(", ")[0]
    for name, matcher in MATCHERS.items():
        assert judge(matcher, several, several.answer).right, name
        if name != "lenient":
            assert not judge(matcher, several, one).right, name


def test_answers_under_all_readings_are_compared() -> None:
    for each in examples("hard")[::7]:
        found = FAMILY.answers_by_reading(each)
        assert set(found) == set(READINGS)
        assert {name for name in READINGS if found[name] == each.answer} == set(each.readings)


def test_people_and_texts_are_read_in_running_text() -> None:
    each = examples("hard")[1]
    running = each.story.replace("\n", " ")
    assert FAMILY.lines(running) == each.story
    assert FAMILY.question_in(f"Read this. {running}\n{each.question}") == each.question
    assert FAMILY.split_prompt([f"Read the story.\n{running}\nQuestion: {each.question}"]) == (
        each.story,
        each.question,
    )
    with pytest.raises(ParseError):
        FAMILY.split_prompt(["Hello there. How are you?"])


def test_stories_of_a_stream_can_be_asked_anything() -> None:
    story = storyproof.stream("tom-k", seed=3, preset="medium")[0]
    assert [story.ask(row.question).answer for row in story.rows] == [row.answer for row in story.rows]
    asked = story.questions(order=2)
    assert any(question.startswith("Does ") for question in asked)
    answered = next(found for question in reversed(asked) if (found := story.ask(question)).answer != "unknown")
    assert answered.is_confirmed


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_many_stories_verify_from_the_text_alone(preset: str) -> None:
    """Generating confirms every answer by the checker; this reads the text again and derives everything anew."""
    benchmark = make_benchmark("tom-k", 11, preset=preset)
    assert isinstance(benchmark, TomK)
    stories = 100_000
    for table in benchmark.blocks("train", stories - stories % benchmark.round):
        assert examine_table(table).disagreements == []


@pytest.mark.parametrize("preset", ["medium", "hard", "extreme"])
def test_lies_are_false_and_told_by_people_who_know_better_and_most_deceive_somebody(preset: str) -> None:
    benchmark = TomK(TomKConfig(**PRESETS[preset]), 31)
    assert benchmark.notes({"test": 300})["lies"]["deceive"]["test"] >= 0.8
    drawn = benchmark.plots("test", 0)
    for column in range(40):
        told = decode_plot(drawn.stories, column, LocalNames.generic(64))
        for time in np.flatnonzero(drawn.lie[:, column]).tolist():
            before = CheckedStory(told[:time])
            thing = str(told[time].thing)
            real = before.belief((), thing, DEFAULT_READING)
            assert before.belief((str(told[time].agent),), thing, DEFAULT_READING) == real
            assert told[time].container != real


@pytest.mark.parametrize("preset", ["easy", "hard", "extreme"])
def test_chains_cannot_be_told_in_fewer_minds_and_no_question_is_asked_twice(preset: str) -> None:
    for story in storyproof.stream("tom-k", seed=12, preset=preset)[:40]:
        asked = [read_question(row.question) for row in story.rows]
        for question in asked:
            assert len(set(question.chain[1:])) == len(question.chain[1:])
        believed = {(each.thing, each.chain) for each in asked if each.ask == Ask.BELIEF}
        assert not believed & {(each.thing, each.chain) for each in asked if each.ask == Ask.SAYS}
        for row, question in zip(story.rows, asked, strict=True):
            assert row.order == question.order
            if question.ask == Ask.BELIEVERS and question.chain:
                assert question.chain[0] not in row.answer.split(", ")


@pytest.mark.parametrize("settings", [{"preset": "easy"}, {"preset": "medium", "trust": "fresher"}])
def test_robust_questions_have_the_same_answer_under_all_readings(settings: dict[str, str]) -> None:
    table = storyproof.generate("tom-k", test=60, seed=3, robust=True, **settings)
    assert {len(readings) for readings in table["readings"].to_pylist()} == {12}
    assert examine_table(table).disagreements == []


def test_more_minds_than_people_make_no_new_question() -> None:
    with pytest.raises(ConfigError, match="with 3 people a question of more than 4 minds is one of fewer"):
        TomKConfig(order=5, agents=3)
    with pytest.raises(ConfigError, match="one room only, where everybody sees the objects"):
        TomKConfig(rooms=1, peeks=0)
