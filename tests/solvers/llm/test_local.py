"""The local backend with a stand-in for its engine; the real one is in test_engines."""

import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest

from storyproof.errors import ConfigError, ModelError
from storyproof.solvers.llm import local
from storyproof.solvers.llm.local import Local
from storyproof.solvers.llm.messages import Message, Request
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.pull import weights_path


class Params:
    def __init__(self) -> None:
        self.model = types.SimpleNamespace(path="")
        self.cpuparams = types.SimpleNamespace(n_threads=-1)
        self.verbosity, self.warmup, self.n_ctx, self.n_parallel = 0, True, 0, 0


class Server:
    made: ClassVar[list["Server"]] = []

    def __init__(self, params: Params) -> None:
        if Path(params.model.path).read_bytes() == b"bad":
            raise RuntimeError("no such magic")
        self.params, self.bodies = params, list[dict[str, Any]]()
        self.made.append(self)

    @staticmethod
    def _end(text: str) -> str:
        return "length" if text.startswith(("long", " ")) else "stop"

    def handle_chat_completions(
        self, body: dict[str, Any], take: Callable[[dict[str, Any]], Any] | None = None
    ) -> dict[str, Any] | None:
        self.bodies.append(body)
        text = body["messages"][-1]["content"]
        if body.get("stream"):
            assert take is not None
            for letter in text.upper():
                take({"choices": [{"delta": {"content": letter}}]})
            if text != "broken":
                take({"choices": [{"delta": {}, "finish_reason": self._end(text)}], "usage": {"completion_tokens": 9}})
            return None
        if len(text) > 100:
            return {"error": {"code": 400, "message": "the request exceeds the available context size"}}
        choice: dict[str, Any] = {"message": {"content": text.upper()}, "finish_reason": self._end(text)}
        if body.get("logprobs"):
            tops = [{"token": "A", "logprob": -2.0}, {"token": " B", "logprob": -1.0}] if text == "letters" else []
            choice["logprobs"] = {"content": [{"top_logprobs": tops}]}
        usage = {"prompt_tokens": 5, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 4}}
        return {"choices": [choice], "usage": usage}


@pytest.fixture
def weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    engine = types.ModuleType("xllamacpp")
    engine.CommonParams, engine.Server, engine.__version__ = Params, Server, "1"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "xllamacpp", engine)
    Server.made.clear()
    path = tmp_path / "tiny.gguf"
    path.write_bytes(b"weights")
    return path


def ask(model: Local, *texts: str, **changes: Any) -> dict[str, Any]:
    return dict(model.complete((text, Request((Message("user", text),), 10, **changes)) for text in texts))


@pytest.mark.parametrize("parallel", [1, 3])
def test_asks(weights: Path, parallel: int) -> None:
    found = ask(Local(str(weights), ModelOptions(extra={"n_parallel": parallel})), "a", "b", "c", "d", "e")
    assert {name: reply.text for name, reply in found.items()} == dict(zip("abcde", "ABCDE", strict=True))
    assert (found["a"].prompt_tokens, found["a"].cached_tokens) == (5, 4)
    [server] = Server.made
    assert server.params.n_parallel == parallel
    assert server.params.cpuparams.n_threads >= 1
    assert "n_parallel" not in server.bodies[0]


def test_what_is_said_is_heard_word_by_word(weights: Path) -> None:
    model, heard = Local(str(weights), ModelOptions()), list[str]()
    model.hear = heard.append
    found = ask(model, "abc", "broken")
    assert heard[:3] == ["A", "AB", "ABC"]
    assert (found["abc"].text, found["abc"].output_tokens, found["abc"].cut_off) == ("ABC", 9, False)
    assert "in the middle" in str(found["broken"].error)
    heard.clear()
    assert ask(model, "letters", choices=("A", "B"))["letters"].text == "B"
    assert heard == []  # chosen by likelihood


def test_letters_by_likelihood_and_other_choices_by_asking(weights: Path) -> None:
    found = ask(Local(str(weights), ModelOptions()), "letters", choices=("A", "B"))
    assert (found["letters"].text, found["letters"].choice_scores) == ("B", (-2.0, -1.0))
    found = ask(Local(str(weights), ModelOptions()), "words", choices=("box", "jar"))
    assert (found["words"].text, found["words"].choice_scores) == ("WORDS", None)


def test_end_of_a_reply(weights: Path) -> None:
    found = ask(Local(str(weights), ModelOptions()), "long", "short", " ")
    assert {name: reply.cut_off for name, reply in found.items()} == {"long": True, "short": False, " ": False}
    assert found[" "].error == (
        "the reply is empty: it was cut off at 1 tokens, perhaps while the model was still thinking; raise --max-tokens"
    )


def test_context_too_long(weights: Path) -> None:
    assert ask(Local(str(weights), ModelOptions()), "x" * 101)["x" * 101].error == (
        "context too long: the request exceeds the available context size"
    )


def test_same_weights_elsewhere_are_the_same_model(weights: Path) -> None:
    first = Local(str(weights), ModelOptions()).identity()
    moved = weights.rename(weights.with_name("moved.gguf"))
    assert Local(str(moved), ModelOptions()).identity() == first
    moved.write_bytes(b"other weights")
    assert Local(str(moved), ModelOptions()).identity() != first


def test_weights_that_are_not_there(weights: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    content = weights.read_bytes()
    cached = weights_path("smollm2")
    cached.parent.mkdir(parents=True)
    monkeypatch.setattr(local, "pull", lambda name: cached.write_bytes(content))
    assert Local("smollm2", ModelOptions()).identity() == Local(str(weights), ModelOptions()).identity()
    assert cached.is_file()  # downloaded for the first use, and never again
    monkeypatch.setattr(local, "pull", lambda name: pytest.fail("downloaded twice"))
    Local("smollm2", ModelOptions())
    with pytest.raises(ConfigError, match=r"give another path"):
        Local("nothing.gguf", ModelOptions())


def test_weights_that_do_not_load(weights: Path) -> None:
    weights.write_bytes(b"bad")
    with pytest.raises(ModelError, match=r"cannot load .*tiny\.gguf: no such magic\."):
        ask(Local(str(weights), ModelOptions()), "a")


def test_option_that_the_engine_does_not_know(weights: Path) -> None:
    with pytest.raises(ConfigError, match="--option n_cxt: the engine has no such option"):
        ask(Local(str(weights), ModelOptions(extra={"n_cxt": 1})), "a")
