from pathlib import Path

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError, ModelError
from storyproof.evaluation.ask import Asker, own_example, pick
from storyproof.solvers.llm.messages import Reply
from storyproof.solvers.llm.options import ModelOptions
from tests.solvers.llm.stand_ins import Scripted

MODEL = "def answer(text):\n    return 'The drawer.'\n\ndef broken(text):\n    raise OSError('no')\n"
STORY = "Oliver entered the room. The apple is in the basket.\nOliver moved the apple to the drawer."


@pytest.fixture
def model(tmp_path: Path) -> str:
    (tmp_path / "model.py").write_text(MODEL)
    return f"{tmp_path / 'model.py'}:answer"


@pytest.fixture
def data(tmp_path: Path) -> Path:
    storyproof.generate("tomi", train=3, test=3, seed=7, out=tmp_path / "tomi")
    return tmp_path / "tomi"


def test_own_story(model: str) -> None:
    found = storyproof.ask(model, story=STORY, question="Where is the apple now?", answer="drawer")
    assert found.answer == "The drawer."
    assert found.example.story.split("\n") == [
        "Oliver entered the room.",
        "The apple is in the basket.",
        "Oliver moved the apple to the drawer.",
    ]
    assert {name: each.right for name, each in found.matches.items()} == {
        "strict": False,
        "careful": True,
        "lenient": True,
    }
    [(request, reply)] = found.steps
    assert "Where is the apple now?" in request.text
    assert reply == "The drawer."


def test_without_the_right_answer_nothing_is_judged(model: str) -> None:
    assert storyproof.ask(model, story=STORY, question="Where?").matches == {}


def test_of_a_dataset(model: str, data: Path) -> None:
    found = storyproof.ask(model, data=data, index=4, prompt="few-shot")
    assert found.example == pick(data, 4)
    beliefs = [pick(data, index, exclude_memory_reality=True).order for index in range(12)]
    assert min(beliefs) > 0


def test_several_steps(model: str, data: Path) -> None:
    found = storyproof.ask(model, data=data, index=1, exclude_memory_reality=True, prompt="perspective")
    assert [reply for _, reply in found.steps] == ["The drawer."] * len(found.steps)
    assert len(found.steps) == 2
    assert len(found.as_dict()["steps"]) == 2


def test_solver(data: Path) -> None:
    found = storyproof.ask("oracle", data=data)
    assert found.answer == found.example.answer
    assert found.steps == ()


def test_model_that_gives_no_reply(model: str) -> None:
    asker = Asker(model.replace("answer", "broken"))
    with pytest.raises(ModelError, match="gave no reply: OSError: no"):
        asker.ask(own_example(STORY, "Where?"))
    asker.close()


def test_containers_of_an_own_story_are_its_candidates(model: str) -> None:
    found = storyproof.ask(model, story=STORY, question="Where is the apple now?", prompt="multiple-choice")
    [(request, _)] = found.steps
    assert {line[3:] for line in request.text.splitlines() if line[1:2] == "."} == {"basket", "drawer"}


def test_own_story_whose_containers_cannot_be_read(model: str) -> None:
    with pytest.raises(DataError, match="the prompt 'multiple-choice' offers possible answers, and none can be read"):
        storyproof.ask(model, story="Once upon a time.", question="Where?", prompt="multiple-choice")


def test_reply_that_was_cut_off_before_its_answer(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = Reply("First I think about the drawer", cut_off=True)
    monkeypatch.setattr("storyproof.solvers.solver.load_backend", lambda *_: Scripted(lambda _: cut))
    found = storyproof.ask(model, story=STORY, question="Where?", answer="drawer", prompt="chain-of-thought")
    assert (found.answer, found.cut_off, found.as_dict()["cut_off"]) == ("", True, True)
    assert not any(each.right for each in found.matches.values())
    assert [reply for _, reply in found.steps] == [cut.text]


def test_is_not_silent_for_long(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def load(name: str, options: ModelOptions) -> Scripted:
        return Scripted(lambda _: str(options.retries))

    monkeypatch.setattr("storyproof.solvers.solver.load_backend", load)
    assert storyproof.ask(model, story=STORY, question="Where?").answer == "2"


def test_what_to_ask_must_be_clear(model: str, data: Path) -> None:
    with pytest.raises(ConfigError, match="either data and an index, or a story"):
        storyproof.ask(model)
    with pytest.raises(ConfigError, match="either data and an index, or a story"):
        storyproof.ask(model, data=data, story=STORY)
    with pytest.raises(ConfigError, match="a story needs a question"):
        storyproof.ask(model, story=STORY)
    for index in (18, -1):
        with pytest.raises(DataError, match=f"has 18 questions; --index is {index}"):
            storyproof.ask(model, data=data, index=index)
