"""Users' own models: objects, classes and functions, in Python and on the command line."""

import pickle
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.engines import make_engine
from storyproof.errors import ConfigError, ModelError, NoAnswersError
from storyproof.example import Example
from storyproof.solvers.solver import load_solver, resolve
from tests.cli.invocation import run

LAST_PLACE = '''
class LastPlace:
    """Answers by the candidate that the story names last."""

    answers_apart = True

    def __init__(self, seed=0):
        self.seed = seed

    def predict(self, examples):
        return [max(each.candidates, key=each.story.rfind) for each in examples]


def nothing(prompt):
    return "box"


LOADED = LastPlace(3)
NUMBER = 3


class Empty:
    pass
'''


class LastPlace:
    def __init__(self) -> None:
        self.batches: list[int] = []

    def predict(self, examples: Sequence[Example]) -> list[str]:
        self.batches.append(len(examples))
        return [max(each.candidates, key=each.story.rfind) for each in examples]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("own") / "data"
    storyproof.generate("tomi", test=60, seed=7, out=folder)
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(LAST_PLACE)
    return path


def test_every_form_of_a_solver_answers_alike(data: Path, file: Path) -> None:
    model = LastPlace()
    runs = [storyproof.evaluate(each, data) for each in (model, LastPlace, f"{file}:LastPlace", f"{file}:LOADED")]
    assert model.batches == [360]  # all questions at once
    assert {run.scores.accuracy for run in runs} == {runs[0].scores.accuracy}
    assert 0.4 < runs[0].scores.accuracy < 0.7  # right about reality, wrong about memory
    assert [run.model for run in runs] == ["LastPlace", "LastPlace", f"{file}:LastPlace", f"{file}:LOADED"]
    assert not any(run.free_text for run in runs)


def test_a_class_gets_the_seed_if_it_takes_one(file: Path) -> None:
    assert load_solver(f"{file}:LastPlace", 5)._model.seed == 5  # type: ignore[attr-defined]
    assert load_solver(f"{file}:LOADED", 5)._model.seed == 3  # type: ignore[attr-defined]


def test_a_function_is_asked_by_prompts(data: Path, file: Path) -> None:
    prompts: list[str] = []

    def answer(prompt: str) -> str:
        prompts.append(prompt)
        return "box"

    run = storyproof.evaluate(answer, data, max_samples=6)
    assert run.free_text
    assert run.model == "answer"
    assert len(prompts) == 6
    assert "Question:" in prompts[0] or "?" in prompts[0]
    assert storyproof.evaluate(lambda prompt: "box", data, max_samples=3).model == "<lambda>"
    assert storyproof.evaluate(f"{file}:nothing", data, max_samples=3).model == f"{file}:nothing"


def test_another_function_of_the_same_name_is_asked_again(data: Path, tmp_path: Path) -> None:
    def make(reply: str) -> Any:
        return lambda prompt: reply

    for reply in ("box", "jar"):
        run = storyproof.evaluate(make(reply), data, max_samples=2, output_dir=tmp_path / "runs")
        assert {each["reply"] for each in run.predictions} == {reply}


def test_ask_takes_a_model_itself(data: Path) -> None:
    assert storyproof.ask(lambda prompt: "the box", data=data).answer == "the box"
    first = storyproof.load(data).to_pylist()[0]
    assert storyproof.ask(LastPlace(), data=data).answer in first["candidates"]


class Broken(LastPlace):
    def __init__(self, answers: Any) -> None:
        self.answers = answers

    def predict(self, examples: Sequence[Example]) -> list[str]:
        if isinstance(self.answers, Exception):
            raise self.answers
        return self.answers  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        (["box"] * 5, "Broken returned 5 answers to 6 questions; expected one for each"),
        (["box"] * 5 + [3], r"Broken answered 'test-000000000-5' by 3 \(int\); expected text"),
        (None, "Broken failed: TypeError: 'NoneType' object is not iterable"),
        (ValueError("no weights"), "Broken failed: ValueError: no weights"),
    ],
)
def test_what_goes_wrong_in_a_model_is_said(answers: object, message: str, data: Path) -> None:
    with pytest.raises(ModelError, match=message) as raised:
        storyproof.evaluate(Broken(answers), data, max_samples=6)
    assert not isinstance(raised.value, NoAnswersError)


def test_what_is_no_model_is_refused(data: Path, file: Path) -> None:
    with pytest.raises(ConfigError, match=r"the model is 3 \(int\); expected a name, a path, a function"):
        storyproof.evaluate(3, data)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"the class .*mine.py:Empty has no method predict\(examples\)"):
        resolve(f"{file}:Empty")
    with pytest.raises(ConfigError, match="has no function 'NUMBER'"):
        resolve(f"{file}:NUMBER")
    with pytest.raises(ModelError, match="Broken failed: TypeError"):
        storyproof.evaluate(Broken, data)  # needs an argument


def test_files_are_answered_apart_by_name_only(data: Path, file: Path) -> None:
    with make_engine() as engine:
        apart = storyproof.evaluate(f"{file}:LastPlace", data, engine=engine)
        assert apart.scores.accuracy == storyproof.evaluate(LastPlace, data).scores.accuracy
        with pytest.raises(ConfigError, match="LastPlace is an object of this program, which other processes do not"):
            storyproof.evaluate(LastPlace(), data, engine=engine)
        file.write_text(LAST_PLACE.replace("max(", "min("))  # is taken as it is now
        again = storyproof.evaluate(f"{file}:LastPlace", data, engine=engine)
        assert again.scores.accuracy != apart.scores.accuracy


def test_other_processes_load_a_model_by_its_name(file: Path) -> None:
    reference = pickle.loads(pickle.dumps(resolve(f"{file}:LastPlace")))
    assert reference.value is None
    assert reference.load_value().__name__ == "LastPlace"


def test_the_command_line_takes_a_class(data: Path, file: Path) -> None:
    done = run("evaluate", "--model", f"random,{file}:LastPlace", "--data", data)
    assert done.exit_code == 0, done.output
    assert "mine.py:LastPlace" in done.stdout
    refused = run("evaluate", "--model", f"{file}:LastPlace", "--data", data, "--max-tokens", 5)
    assert "is not a language model" in str(refused.exception)
