"""Rules in prompts: by default in every prompt of every benchmark and language, and the same text everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof import rewards
from storyproof.catalog import BENCHMARKS
from storyproof.evaluation.ask import Asker
from storyproof.evaluation.options import AskOptions
from storyproof.example import Example
from storyproof.families.family import convention_text, family_of
from storyproof.integrations.harness_questions import from_benchmark, from_data
from storyproof.integrations.reasoning_gym import StoryDataset
from storyproof.io.bounded_input import parse_shipped
from storyproof.solvers.llm.messages import Message, Request
from storyproof.solvers.llm.prompt import ConventionsPrompt, load_prompt, prompt_names
from tests.samples import example, examples

GOLDEN = Path(__file__).with_name("golden_prompts.yaml")
CASES: list[dict[str, Any]] = parse_shipped(GOLDEN.read_text(encoding="utf-8"))
HEADINGS = {
    "en": "Rules for this story:\n- ",
    "de": "Regeln für diese Geschichte:\n- ",
    "es": "Reglas para esta historia:\n- ",
    "zh": "这个故事的规则：\n- ",
}
ENGLISH = ("Rules", "Read ", "Story:", "Question:", "Answer", "Think", "Here ", "Write")
KIN = examples("clutrr", "train")
NAMES = [name for name in BENCHMARKS if "@" not in name]
STREAMS = [
    *((name, {}) for name in NAMES if name != "tom-k"),
    *(("tom-k", {"language": each, "preset": "hard"}) for each in HEADINGS),
]


@cache
def stories_of(benchmark: str, **settings: str) -> list[tuple[Example, ...]]:
    """Return the rows of twelve stories."""
    return [tuple(story.rows) for story in storyproof.stream(benchmark, seed=8, **settings)[:12]]


def asked(row: Example, name: str, shots: Sequence[Example], **how: bool) -> list[str]:
    """What a prompt asks step by step, if every reply is the same."""
    prompt = load_prompt(name, shots=shots, **how)  # type: ignore[arg-type]
    texts: list[str] = []
    while (request := prompt.request(row, ["so"] * len(texts))) is not None:
        texts.append(request.text)
    return texts


@pytest.mark.parametrize(("benchmark", "settings"), STREAMS)
@pytest.mark.parametrize("name", prompt_names())
def test_every_prompt_states_the_rules_in_the_language_of_the_row(
    benchmark: str, settings: dict[str, str], name: str
) -> None:
    language = settings.get("language", "en")
    stories = stories_of(benchmark, **settings)
    shots = [row for rows in stories[3:] for row in rows]
    for row in [row for rows in stories[:3] for row in rows]:
        plain, stated = (asked(row, name, shots, conventions=each) for each in (False, True))
        rules = convention_text(row)
        if row.order == 0 and row.family == "belief":  # memory and reality need no rules
            assert (rules, stated) == ("", plain)
            continue
        assert rules.startswith(HEADINGS[language])
        assert stated == [f"{rules}\n\n{text}" for text in plain]
        if language != "en":
            assert not any(word in text for text in stated for word in ENGLISH)


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_golden_prompts(case: dict[str, Any]) -> None:
    assert storyproof.prompt(case["row"], case["prompt"]).text == case["text"]


def test_golden_prompts_are_of_every_benchmark_and_language() -> None:
    names = {case["name"] for case in CASES}
    assert {each for each in NAMES if each != "tom-k"} | {f"tom-k {language}" for language in HEADINGS} <= names


@pytest.mark.parametrize("is_stated", [True, False])
@pytest.mark.parametrize("benchmark", ["tomi", "tom-k", "clutrr"])
def test_the_text_is_the_same_everywhere(benchmark: str, is_stated: bool, tmp_path: Path) -> None:
    stories = 6 if benchmark == "tomi" else 3
    rows = [row for story in storyproof.stream(benchmark, seed=7, split="test")[:stories] for row in story.rows]
    texts = [storyproof.prompt(row, conventions=is_stated).text for row in rows]
    assert ("Rules for this story:" in texts[1]) == is_stated
    evaluating = AskOptions(conventions=is_stated).load_prompt()
    assert [evaluating.request(row, []).text for row in rows] == texts  # type: ignore[union-attr]
    asker = Asker(f"{__name__}:silent", conventions=is_stated)
    assert [asker.ask(row).steps[0][0].text for row in rows[:2]] == texts[:2]
    # Inspect and lm-evaluation-harness ask what a questionnaire asks.
    fresh = from_benchmark(benchmark, stories=stories, seed=7, conventions=is_stated)
    assert [fresh.request(row).text for row in fresh.examples] == texts
    gym = StoryDataset(
        benchmark=benchmark, seed=7, size=len(rows), split="test", prompt="zero-shot", conventions=is_stated
    )
    assert [entry["question"] for entry in gym] == texts
    streamed = storyproof.stream(benchmark, seed=7, split="test")[:stories]
    trained = rewards.prompt_rows(streamed, prompt="zero-shot", conventions=is_stated)
    assert [row["prompt"][0]["content"] for row in trained] == texts
    if benchmark != "tom-k":
        storyproof.generate(benchmark, test=stories, seed=7, out=tmp_path / "data")
        held = from_data(tmp_path / "data", conventions=is_stated)
        assert [held.request(row).text for row in held.examples] == [
            storyproof.prompt(row, conventions=is_stated).text for row in held.examples
        ]


def silent(prompt: str) -> str:
    return "nothing"


def test_rules_follow_the_words_of_the_system() -> None:
    class Own:
        name, version = "own", "1"

        def request(self, example: Example, replies: Sequence[str]) -> Request | None:
            return Request((Message("system", "Be brief."), Message("user", example.question)), 5)

        def answer(self, replies: Sequence[str], example: Example) -> str:
            return replies[-1]

    prompt = ConventionsPrompt(Own())
    request = prompt.request(KIN[0], ())
    assert request is not None
    assert request.messages[0].content == "Be brief."
    assert request.messages[1].content.endswith(f"are different people.\n\n{KIN[0].question}")
    assert prompt.answers("anything")
    assert prompt.answer(["box"], KIN[0]) == "box"
    unread = example(story="Once upon a time.")
    assert prompt.request(unread, ()) == Own().request(unread, ())


def test_kinship_by_reading() -> None:
    family = family_of(KIN[0])
    strict, published = (
        family.conventions(example(family="kinship", readings=[each])) for each in ("strict", "published")
    )
    assert "Different names are different people." in strict
    assert published[0] == "Answers follow from these rules only, which are those of the CLUTRR paper."
    assert family.conventions(KIN[0]) == strict
    for rules in (strict, published):
        row = example(family="kinship", readings=["strict" if rules is strict else "published"])
        others = [family.conventions(row, language) for language in ("de", "es", "zh")]
        assert all(len(each) == len(rules) and not set(each) & set(rules) for each in others)
    assert family.conventions(KIN[0], "fr") == strict
    assert not family.conventions(example(family="kinship", readings=["mine"]))
