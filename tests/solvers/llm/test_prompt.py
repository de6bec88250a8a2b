from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from storyproof.errors import ConfigError, DataError, UnknownNameError
from storyproof.example import Example
from storyproof.families.family import family_of
from storyproof.solvers.llm.choices import chosen, letters, shuffled
from storyproof.solvers.llm.messages import Request
from storyproof.solvers.llm.prompt import (
    Prompt,
    after_marker,
    draw_shots,
    load_prompt,
    needs_shots,
    prompt_names,
    shots_for,
)
from storyproof.solvers.llm.prompt_files import load_template
from tests.samples import MEMORY, SEARCH, STORY, example, examples

TOM = examples("tomi", "train")
KIN = examples("clutrr", "train")


def text(prompt: Prompt, each: Example, *replies: str) -> str:
    request = prompt.request(each, replies)
    assert request is not None
    return request.text


def test_names() -> None:
    assert prompt_names() == ["chain-of-thought", "few-shot", "multiple-choice", "perspective", "zero-shot"]
    assert [name for name in prompt_names() if needs_shots(name)] == ["few-shot"]


@pytest.mark.parametrize("name", prompt_names())
@pytest.mark.parametrize("each", [TOM[1], TOM[0], KIN[0]], ids=["belief", "memory", "kinship"])
def test_every_prompt_asks_the_question_and_ends(name: str, each: Example) -> None:
    prompt = load_prompt(name, shots=[*TOM[60:], *KIN[40:]])
    replies: list[str] = []
    asked = []
    while (request := prompt.request(each, replies)) is not None:
        asked.append(request)
        replies.append("Answer: something")
    assert each.question in asked[-1].text
    assert (each.story if len(asked) == 1 else "Answer: something") in asked[-1].text
    assert "{" not in asked[-1].text
    assert prompt.answer(replies, each)
    assert (prompt.name, prompt.version) == (name, "2")


def test_a_file_may_have_words_for_other_languages(tmp_path: Path) -> None:
    german = {"answer_after": "Antwort:", "any": {"steps": [{"user": "Frage: {question}", "max_tokens": 5}]}}
    path = write(tmp_path / "mine.yaml", answer_after="Answer:", languages={"de": german})
    prompt = load_prompt(str(path), conventions=False)
    story = "Elke betrat das Büro.\nDer Schlüssel war in der Schachtel im Büro."
    asked = example(story=story, question="Wo wird Elke den Schlüssel suchen?")
    assert text(prompt, asked) == f"Frage: {asked.question}"
    assert text(prompt, example()) == f"{STORY} {SEARCH}"
    for reply in ("Hm. Antwort: Schachtel", "Hm. Answer: Schachtel"):
        assert prompt.answer([reply], asked) == "Schachtel"
        assert prompt.answers(reply)  # type: ignore[attr-defined]
    assert prompt.answer(["Antwort: box"], example()) == "Antwort: box"
    assert not prompt.answers("Hm.")  # type: ignore[attr-defined]


def test_zero_shot_has_ten_tokens() -> None:
    request = load_prompt("zero-shot").request(example(), ())
    assert isinstance(request, Request)
    assert (request.max_tokens, request.choices) == (10, ())
    assert load_prompt("zero-shot", max_tokens=3).request(example(), ()).max_tokens == 3  # type: ignore[union-attr]


def test_questions_of_one_story_begin_alike() -> None:
    for name in set(prompt_names()) - {"perspective"}:
        prompt = load_prompt(name, shots=TOM[60:], conventions=False)
        first, second = (text(prompt, example(question=question)) for question in (SEARCH, MEMORY))
        shared = next(place for place, (a, b) in enumerate(zip(first, second, strict=False)) if a != b)
        assert STORY in first[:shared]


def test_shots_are_balanced_over_types_and_answers() -> None:
    shots = draw_shots(TOM, 8, seed=3)
    assert len({shot.story for shot in shots}) == 8
    types = Counter(shot.question_type for shot in shots)
    assert max(types.values()) - min(types.values()) <= 1
    classes = Counter(family_of(shot).answer_class(shot) for shot in shots)
    assert abs(classes["first"] - classes["last"]) <= 2
    kin = draw_shots(KIN, 6, seed=3)
    assert len({shot.answer for shot in kin}) == 6


def test_shots_depend_on_the_seed_alone() -> None:
    first = draw_shots(TOM, 6, seed=1)
    assert draw_shots(TOM[::-1], 6, seed=1) == first
    assert draw_shots(TOM, 6, seed=2) != first


def test_shots_never_show_the_story_that_is_asked_about() -> None:
    drawn = draw_shots(TOM, 10, seed=0)
    for each in drawn:
        shown = shots_for(each, drawn, 6)
        assert len(shown) == 6
        assert each.story not in {shot.story for shot in shown}
        assert text(load_prompt("few-shot", shots=TOM), each).count(each.story) == 1


def test_few_shot_shows_answers_of_the_right_kind() -> None:
    prompt = load_prompt("few-shot", shots=[*TOM, *KIN])
    assert text(prompt, example()).count("\nAnswer: ") == 6
    assert "What is" not in text(prompt, example())
    assert text(prompt, KIN[0]).count("What is") == 7


def test_few_shot_needs_shots() -> None:
    with pytest.raises(ConfigError, match="'few-shot' shows solved examples, but there are none to draw from"):
        load_prompt("few-shot")


def test_chain_of_thought_extracts_the_answer() -> None:
    prompt = load_prompt("chain-of-thought")
    request = prompt.request(example(), ())
    assert isinstance(request, Request)
    assert request.max_tokens > 100
    assert prompt.answer(["Ben left, so he thinks jar.\n**Answer:** the box\n"], example()) == "the box"
    assert prompt.answer(["no idea"], example()) == "no idea"


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("Answer: box", "box"),
        ("answer:\n\n box.", "box."),
        ("Answer: jar\nAnswer: box", "box"),
        ("It is the box. Answer:", None),
        ("It is the box.", None),
        ("The Answer: box\nbecause", "box"),
    ],
)
def test_after_marker(reply: str, found: str | None) -> None:
    assert after_marker(reply, "Answer:") == found


def test_perspective_takes_two_steps_for_a_belief_and_one_for_the_rest() -> None:
    prompt = load_prompt("perspective")
    asked = example()
    first = text(prompt, asked)
    assert "Ben knows of an event" in first
    assert asked.question not in first
    second = text(prompt, asked, "The key is in the box.")
    assert "The key is in the box." in second
    assert STORY not in second
    assert asked.question in second
    assert prompt.request(asked, ["a", "b"]) is None
    assert prompt.answer(["a", "b"], asked) == "b"
    memory = example(chain=[], order=0, question=MEMORY)
    assert STORY in text(prompt, memory)
    assert prompt.request(memory, ["a"]) is None


def test_multiple_choice() -> None:
    prompt = load_prompt("multiple-choice", seed=1)
    asked = example()
    request = prompt.request(asked, ())
    assert isinstance(request, Request)
    assert request.choices == ("A", "B")
    options = shuffled(asked, asked.candidates, 1)
    assert f"A. {options[0]}\nB. {options[1]}\n" in request.text
    assert prompt.answer(["B"], asked) == options[1]
    assert prompt.answer([f"A. {options[0]}"], asked) == options[0]
    assert prompt.answer([], asked) == ""


def test_options_are_shuffled_by_seed_and_example() -> None:
    orders = {tuple(shuffled(example(id=str(number)), ["box", "jar", "tin"], 0)) for number in range(50)}
    assert len(orders) == 6
    assert any(shuffled(example(), ["box", "jar"], seed) != shuffled(example(), ["box", "jar"], 0) for seed in range(9))


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        ("B", "jar"),
        (" B. ", "jar"),
        ("(B)", "jar"),
        ("B) jar", "jar"),
        ("B. jar, I think", "jar"),
        ("The answer is A.", "box"),
        ("Answer: B", "jar"),
        ("option a", "box"),
        ("jar", "jar"),
        ("A) jar", "A) jar"),
        ("A classic puzzle", "A classic puzzle"),
        ("D", "D"),
        ("", ""),
        ("A) jar\nThe answer is A.", "A) jar\nThe answer is A."),
    ],
)
def test_chosen(reply: str, found: str) -> None:
    assert chosen(reply, ["box", "jar"]) == found


@given(st.integers(1, 60), st.data())
def test_every_letter_chooses_its_option(count: int, data: st.DataObject) -> None:
    options = [f"place{number}x" for number in range(count)]
    place = data.draw(st.integers(0, min(count, 26) - 1))
    assert chosen(letters(options)[place], options) == options[place]


def test_multiple_choice_without_candidates() -> None:
    prompt = load_prompt("multiple-choice")
    assert "A. " in text(prompt, example(candidates=[]))
    with pytest.raises(DataError, match="1 has no candidates and none follow from its story"):
        text(prompt, example(candidates=[], story="Once upon a time."))


def write(path: Path, **changes: object) -> Path:
    template = {
        "name": "mine",
        "version": "7",
        "any": {"steps": [{"user": "{story} {question}", "max_tokens": 5}]},
        **changes,
    }
    path.write_text(yaml.safe_dump({name: value for name, value in template.items() if value is not None}))
    return path


def test_own_file(tmp_path: Path) -> None:
    prompt = load_prompt(str(write(tmp_path / "mine.yaml")), conventions=False)
    assert (prompt.name, prompt.version) == ("mine", "7")
    assert text(prompt, example()) == f"{STORY} {SEARCH}"
    assert text(prompt, KIN[0]) == f"{KIN[0].story} {KIN[0].question}"


def step(**changes: object) -> dict[str, object]:
    return {"steps": [{"user": "{story}", "max_tokens": 5, **changes}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"version": None}, "the file: found no field 'version'; expected all of: name, version"),
        ({"version": 1}, "version: found 1; expected text"),
        ({"any": None}, "the file: found no wording; expected one of belief, kinship, .*any, with steps"),
        ({"words": 1}, "the file: found the field 'words'; expected only: name, version"),
        ({"any": {"steps": []}}, r"any.steps: found \[\]; expected a list of at least one step"),
        (
            {"any": step(user="{stroy}")},
            r"any.steps\[0\].user: found the placeholder {stroy}; expected one of: {story}",
        ),
        ({"any": step(user="{story")}, r"any.steps\[0\].user: found .*; expected placeholders such as {story}"),
        ({"any": step(user="{reply}")}, r"found the placeholder {reply}; expected one of"),
        ({"any": step(user="{story!r}")}, r"found the placeholder {story!r}"),
        ({"languages": 1}, "languages: found 1; expected wordings by the code of a language"),
        ({"languages": {"de": {}}}, "languages.de: found no wording; expected one of belief"),
        ({"languages": {"de": {"any": step(user="{stroy}")}}}, r"languages.de.any.steps\[0\].user: found the"),
        ({"any": step(max_tokens=0)}, r"any.steps\[0\].max_tokens: found 0; expected a whole number, 1 or more"),
        ({"any": step(stop="x")}, r"any.steps\[0\].stop: found 'x'; expected a list of texts"),
        ({"any": step(choices="all")}, r"any.steps\[0\].choices: found 'all'; expected letters or answers"),
        ({"any": step(when="now")}, r"any.steps\[0\].when: found 'now'; expected belief"),
        ({"any": step(user=None)}, r"any.steps\[0\]: found no field 'user'"),
        ({"any": [1]}, "any: found list; expected fields: steps"),
        ({"any": step(user="{shots}")}, "any: found shots: 0, .* used; expected 'shots'"),
        ({"any": {**step(), "shots": 2, "shot": "{story}"}}, "any: found shots: 2, .* not used"),
    ],
)
def test_broken_files(tmp_path: Path, changes: dict[str, object], message: str) -> None:
    path = write(tmp_path / "mine.yaml", **changes)
    with pytest.raises(ConfigError, match=rf"mine\.yaml, .*{message}") as caught:
        load_prompt(str(path))
    assert str(path) in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot read the prompt"):
        load_prompt(str(tmp_path / "none.yaml"))
    (tmp_path / "bad.yaml").write_text("a: [")
    with pytest.raises(ConfigError, match="not valid YAML"):
        load_prompt(str(tmp_path / "bad.yaml"))
    with pytest.raises(UnknownNameError, match=r"unknown prompt 'zero-shto'\. Did you mean 'zero-shot'"):
        load_prompt("zero-shto")


def test_no_words_for_this_kind(tmp_path: Path) -> None:
    prompt = load_prompt(str(write(tmp_path / "mine.yaml", any=None, belief=step())))
    with pytest.raises(ConfigError, match="no wording for 'kinship'; add 'kinship' or 'any'"):
        prompt.request(KIN[0], ())


def test_own_function(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(
        "def ask(example):\n    return f'{example.question}!'\n"
        "def bad(example):\n    return 3\n"
        "class Own:\n    name, version = 'own', '2'\n"
        "    def request(self, example, replies): return None\n"
        "    def answer(self, replies, example): return 'x'\n"
    )
    prompt = load_prompt(f"{path}:ask", max_tokens=4, conventions=False)
    request = prompt.request(example(), ())
    assert isinstance(request, Request)
    assert (request.text, request.max_tokens) == (f"{SEARCH}!", 4)
    assert prompt.request(example(), ["box"]) is None
    assert prompt.answer(["box"], example()) == "box"
    assert load_prompt(f"{path}:Own").name == "own"
    with pytest.raises(ConfigError, match="returned 3; expected text or a Request"):
        load_prompt(f"{path}:bad").request(example(), ())


def test_the_hash_is_of_the_file() -> None:
    assert len({load_template(name).sha256 for name in prompt_names()}) == len(prompt_names())


def test_sets_of_people_are_listed_as_people() -> None:
    sets = ["Bruno", "Bruno, Elena", "Elena", "nobody"]
    asked = example(
        question="Who thinks that Elena believes that the key is in the box?", answer="Elena", candidates=sets
    )
    shown = text(load_prompt("zero-shot"), replace(asked, question_type="believers"))
    assert "one or more of the names Bruno, Elena, separated by commas; or nobody." in shown
    assert "Bruno, Bruno" not in shown
