"""Audits of generators: what is wrong is found, shrunk and grouped, and what is right comes out clean."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import storyproof
from storyproof.audits.generators import (
    DEPENDENT,
    FAILED,
    WRONG,
    CauseGroup,
    GeneratorReport,
    audit_generator,
    parse_dials,
)
from storyproof.errors import ConfigError
from storyproof.testing import agrees_with_proof
from tests.audits.sample_generators import beliefs, kinship
from tests.cli.invocation import run

BELIEF_DIALS = {"people": range(2, 6), "moves": range(6)}
KINSHIP_DIALS = {"children": (2, 3), "grandchildren": (0, 1, 2)}
Draw = Callable[..., Any]


def with_tracker(sample: Draw, answer: Callable[[str, str], str | None]) -> SimpleNamespace:
    return SimpleNamespace(sample=sample, answer=answer)


def all_seeing(story: str, question: str) -> str | None:
    """Answer as the tracker of beliefs does, but let Ben see everything."""
    chain = [word for word in question.rstrip("?").split() if word in beliefs.NAMES]
    if chain == ["Ben"]:
        return beliefs.answer(story, "Where is the key really?")
    return beliefs.answer(story, question)


def labelled_by(answer: Callable[[str, str], str | None]) -> Draw:
    """Let another tracker label the samples of beliefs."""

    def sample(seed: int, people: int = 3, moves: int = 3) -> tuple[str, str, str | None]:
        story, question, _ = beliefs.sample(seed, people, moves)
        return story, question, answer(story, question)

    return sample


def only(report: GeneratorReport) -> CauseGroup:
    [cause] = report.causes
    return cause


def test_clean_generators_come_out_clean() -> None:
    for sample, dials in ((beliefs.sample, BELIEF_DIALS), (kinship.sample, KINSHIP_DIALS)):
        report = audit_generator(sample, samples=150, dials=dials)
        assert report.ok
        assert report.causes == []
        assert report.judged == report.questions > report.further > 150
        assert agrees_with_proof(sample, samples=30, **dials)


@pytest.mark.parametrize("has_tracker", [True, False])
def test_a_wrong_answer_is_shrunk_to_the_smallest_story(*, has_tracker: bool) -> None:
    draw = labelled_by(all_seeing)
    report = audit_generator(
        with_tracker(draw, all_seeing) if has_tracker else draw,
        samples=600,
        dials={"people": range(2, 6), "moves": range(3, 9)},
    )
    assert report.counts[WRONG] == sum(each.count for each in report.causes)
    assert bool(report.further) == has_tracker
    sizes = {
        each.smallest.finding.reason[:9]: len(each.smallest.sample.sentences) for each in report.causes if each.smallest
    }
    if has_tracker:  # Ben is elsewhere, or comes and goes before somebody moves the key
        assert sizes["no answer"] == 3
        assert sizes["the label"] == 5
    for each in report.causes:
        assert each.consequence == WRONG
        assert each.smallest is not None
        sample, finding = each.smallest
        assert (finding.found, sample.question) == (sample.answer, "Where will Ben look for the key?")
        assert storyproof.audit(
            [{"story": sample.story, "question": sample.question, "answer": sample.answer}]
        ).findings
        for place in range(len(sample.sentences)):  # nothing more can be left out
            rest = [line for number, line in enumerate(sample.sentences) if number != place]
            label: str | None = sample.answer
            if not all(word in "\n".join(rest) for word in ("Ben", "key")):
                continue  # the story would no longer be about what is asked
            if has_tracker:
                try:
                    label = all_seeing("\n".join(rest), sample.question)
                except KeyError:  # somebody leaves who never came
                    continue
            row = {"story": "\n".join(rest), "question": sample.question, "answer": label}
            left = storyproof.audit([row]).findings if label else []
            assert not any(
                (found.kind, found.expected) == (finding.kind, finding.expected)
                and found.reason[:30] == finding.reason[:30]
                for found in left[:1]  # what cannot happen comes first
            )


def test_the_smallest_story_of_an_inverted_relation() -> None:
    """As in a popular package, which inverts in-laws."""

    def inverted(story: str, question: str) -> str | None:
        right = kinship.answer(story, question)
        return {"mother-in-law": "daughter-in-law", "father-in-law": "son-in-law"}.get(right or "", right)

    def sample(seed: int, **dials: int) -> tuple[str, str, str | None]:
        story, question, _ = kinship.sample(seed, **dials)
        return story, question, inverted(story, question)

    report = audit_generator(with_tracker(sample, inverted), samples=200, dials=KINSHIP_DIALS)
    assert [(each.consequence, each.kind) for each in report.causes] == [(WRONG, "contradicted")] * 2
    for each in report.causes:
        assert each.smallest is not None
        assert len(each.smallest.sample.sentences) <= 3  # a marriage and a parent; or the spouse of that parent
        assert each.smallest.finding.expected in ("mother-in-law", "father-in-law")
        assert each.smallest.finding.found in ("daughter-in-law", "son-in-law")


def test_answers_that_are_right_under_another_reading_stand_apart() -> None:
    story = (
        "Ada entered the den.\nBen entered the den.\nThe key is in the box.\nBen exited the den.\n"
        "Ada moved the key to the jar.\nBen entered the den."
    )

    def sample(seed: int) -> tuple[str, str, str]:
        return story, "Where will Ben look for the key?", ("jar", "box", "shed")[seed % 3]

    report = audit_generator(sample, samples=30)
    assert (report.counts[WRONG], report.counts[DEPENDENT]) == (10, 10)
    assert report.conflicts == 1
    wrong, dependent = report.causes
    assert (wrong.consequence, dependent.consequence) == (WRONG, DEPENDENT)
    assert dependent.smallest is not None
    assert dependent.smallest.finding.reading == "closed"
    by_closed = lambda seed: (*sample(seed)[:2], "box")  # noqa: E731
    with pytest.raises(AssertionError, match="right under 'closed'"):
        agrees_with_proof(by_closed)
    assert agrees_with_proof(by_closed, allow_rule_dependent=True)
    with pytest.raises(AssertionError, match="wrong, structural"):
        agrees_with_proof(by_closed, allow_rule_dependent=True, readings=["infer-mover"])
    with pytest.raises(AssertionError, match="answers 1 questions in two ways"):
        agrees_with_proof(lambda seed: (story, "Who is tall?", "Ada" if seed else "Ben"), allow_unread=1)


def test_flaws_that_appear_at_some_dials_only() -> None:
    def sample(seed: int, size: int, kind: str) -> tuple[str, str, str]:
        story, question, answer = beliefs.sample(seed)
        return story, question, "shed" if size > 4 and kind == "odd" else answer

    report = audit_generator(sample, samples=90, dials=parse_dials(["size=1..5", "kind=even, odd"]))
    assert report.counts[WRONG] == 9
    assert {(each.dials["size"], each.dials["kind"]) for each in report.causes} == {(5, "odd")}
    with pytest.raises(AssertionError, match="size 5, kind odd"):
        agrees_with_proof(sample, size=[1, 5], kind=["odd"])


def test_errors_of_a_generator_are_grouped() -> None:
    def sample(seed: int) -> tuple[str, str, str]:
        if seed % 5 == 3:
            raise ZeroDivisionError("nobody is there")
        return beliefs.sample(seed)

    report = audit_generator(sample, samples=20)
    cause = only(report)
    assert (cause.consequence, cause.kind, cause.count, cause.seed) == (FAILED, "ZeroDivisionError", 4, 3)
    assert report.counts[FAILED] == 4
    assert not report.ok


def test_what_is_not_understood_is_never_called_clean() -> None:
    def sample(seed: int) -> tuple[str, str, str]:
        return "The weather was fine.", "Who will win?", "Ada"

    report = audit_generator(sample, samples=10)
    assert (report.judged, report.unread.total(), report.ok) == (0, 10, False)
    with pytest.raises(AssertionError, match="10 of 10 questions are not understood"):
        agrees_with_proof(sample, samples=10)
    assert agrees_with_proof(sample, samples=10, allow_unread=1.0)


def test_a_label_that_no_proof_can_give_is_not_judged() -> None:
    """It is wrong if another answer follows; else nobody knows, because there are only so many relations."""
    story = "Adam is the son of Carl.\nBill is the son of Carl.\nDave is the son of Bill.\nEric is the son of Adam."

    def sample(seed: int) -> tuple[str, str, str]:
        other, label = (("Bill", "first cousins"), ("Eric", "first cousins"), ("Eric", "brother"))[seed]
        return story, f"What is {other} to {'Adam' if seed == 0 else 'Dave'}?", label

    report = audit_generator(sample, samples=3)
    assert (report.judged, dict(report.unread), report.counts[WRONG]) == (2, {"answer": 1}, 2)
    assert next(iter(report.unread_reasons)) == "answer: 'first cousins' is none of the answers that can be proved"
    assert {each.smallest.finding.found for each in report.causes if each.smallest} == {"first cousins", "brother"}


def test_reasons_why_samples_are_not_understood_are_counted_without_names() -> None:
    def sample(seed: int) -> tuple[str, str, str]:
        husband, wife, son = (("John", "Zanny", "Edward"), ("Paul", "Quorra", "Otto"))[seed % 2]
        story = f"{husband} is {wife}'s husband. {wife}'s son is {son}. {son}'s wife is Ada."
        return story, f"What is {wife} to Ada?", "mother-in-law"

    report = audit_generator(sample, samples=4)
    assert list(report.unread_reasons.values()) == [4]
    assert "whether … is male" in next(iter(report.unread_reasons))


def test_samples_in_any_form() -> None:
    parts = ("story", "question", "answer")

    class Generator:
        def sample(self, seed: int) -> Iterator[Any]:
            values = beliefs.sample(seed)
            yield dict(zip(parts, values, strict=True))
            yield [SimpleNamespace(**dict(zip(parts, values, strict=True)))]
            yield (values[0].split("\n"), *values[1:])

    report = audit_generator(Generator, samples=10)
    assert report.ok
    assert report.judged == report.questions == 30

    def global_random() -> tuple[str, str, str]:
        return beliefs.sample(random.randrange(10**6))

    drawn = [audit_generator(global_random, samples=5).as_dict() for _ in range(2)]
    assert drawn[0] == drawn[1]
    running = lambda seed: (beliefs.sample(seed)[0].replace("\n", " "), *beliefs.sample(seed)[1:])  # noqa: E731
    assert audit_generator(running, samples=10).ok


@pytest.mark.parametrize(
    ("generator", "options", "message"),
    [
        ("x", {}, "expected MODULE:FUNCTION"),
        ("tests.no_such:sample", {}, "No module named 'tests.no_such'; expected a module"),
        ("tests.audits.sample_generators.beliefs:draw", {}, "expected the name of a function in it"),
        ("tests.audits.sample_generators.beliefs:NAMES", {}, "expected a function that returns a sample"),
        (beliefs.sample, {"samples": 0}, "--samples is 0"),
        (
            beliefs.sample,
            {"dials": {"size": [1]}},
            "has no dial 'size'; the parameters that it takes are: people, moves.",
        ),
        (beliefs.sample, {"dials": {"people": []}}, "the dial 'people' has no values"),
        (beliefs.sample, {"dials": {"people": range(400), "moves": range(400)}}, "160,000 combinations"),
        (lambda: "a story", {}, "expected (story, question, answer)"),
        (lambda: ("a story", "a question"), {}, "expected (story, question, answer)"),
        (lambda: 3, {}, "expected (story, question, answer)"),
    ],
)
def test_wrong_generators(generator: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        audit_generator(generator, **options)
    assert message in str(caught.value)


def test_dials_of_the_command_line() -> None:
    dials = parse_dials(["people=2..4,9", "noise=0.5,none", "kind=easy, hard", "loud=true"])
    assert dials == {"people": [2, 3, 4, 9], "noise": [0.5, None], "kind": ["easy", "hard"], "loud": [True]}
    for text in ("people", "people=", "=3", "a b=3", "people=4..2"):
        with pytest.raises(ConfigError, match="expected NAME=VALUES"):
            parse_dials([text])


MINE = """
from tests.audits.sample_generators import beliefs

def sample(seed, people=3):
    story, question, answer = beliefs.sample(seed, people)
    return story, question, "shed" if people > 4 else answer
"""


def test_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "my_generator.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [*__import__("sys").path])
    place = ("--generator", "my_generator:sample", "--samples", "40")
    clean = run("audit", *place, "--dial", "people=2..4")
    assert (clean.exit_code, clean.stdout) == (
        0,
        "40 samples, 40 questions: 40 judged, 0 wrong answers, 0 rule-dependent, 0 not understood\n0 causes\n",
    )
    wrong = run("audit", *place, "--dial", "people=2..5", "--json", "found.json", "--most", "1")
    assert wrong.exit_code == 1
    assert "10 wrong answers" in wrong.stdout
    assert "\nwrong, structural: " in wrong.stdout
    assert "people 5\n    " in wrong.stdout
    found = json.loads((tmp_path / "found.json").read_text())
    assert (found["wrong"], found["samples"], found["causes"][0]["dials"]) == (10, 40, {"people": 5})
    assert found["causes"][0]["smallest"]["answer"] == "shed"
    printed = run("audit", *place, "--json", "-")
    assert json.loads(printed.stdout)["wrong"] == 0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["x.txt", "--generator", "a:b"], "paths and --generator exclude each other"),
        (["--generator", "a:b", "--fix", "x"], "--fix and --generator exclude each other"),
        (["--generator", "a:b", "--html", "x"], "--html and --generator exclude each other"),
        (["x.txt", "--samples", "3"], "--samples has an effect on samples of a generator only"),
        (["x.txt", "--dial", "a=3"], "--dial has an effect on samples of a generator only"),
        ([], "name at least one, or a generator"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], message: str) -> None:
    done = run("audit", *options)
    assert done.exit_code != 0
    assert message in str(done.exception)
