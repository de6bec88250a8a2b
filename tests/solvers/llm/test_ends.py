"""How replies end, with stand-ins for the engines; the real ones are in test_engines."""

import contextlib
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from storyproof.errors import ConfigError
from storyproof.solvers.llm.hf import Transformers
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.llm.prompt import ends_before_answer, load_prompt
from storyproof.solvers.llm.vllm import Vllm
from storyproof.solvers.solver import load_backend
from tests.solvers.llm.stand_ins import OneStep

END, LIMIT = 0, 4
WRITTEN = {"long": [1, 2, 3, 4], "short": [1, 2, END, END], "just": [1, 2, 3, END], "stops": [1, 9, 3, 4]}


class Rows(dict[str, Any]):
    def to(self, device: str) -> "Rows":
        return self


class Tokenizer:
    """Tokens are digits; 9 is a semicolon."""

    chat_template, eos_token_id, pad_token_id = None, END, END

    def __call__(self, text: str, **_: Any) -> dict[str, list[int]]:
        return {"input_ids": [list(WRITTEN).index(text) + 1]}

    def pad(self, rows: dict[str, list[list[int]]], **_: Any) -> Rows:
        return Rows(input_ids=np.array(rows["input_ids"]))

    def decode(self, row: list[int], **_: Any) -> str:
        return "".join(";" if token == 9 else str(token) for token in row)


class Model:
    config = types.SimpleNamespace(max_position_embeddings=100)
    generation_config = types.SimpleNamespace(eos_token_id=[END])
    dtype = device = "cpu"

    def generate(self, input_ids: Any, **_: Any) -> Any:
        rows = list(WRITTEN.values())
        return np.array([[token, *rows[token - 1]] for [token] in input_ids.tolist()])

    def eval(self) -> None:
        pass


class Engine:
    """Gives all replies in one step."""

    def __init__(self) -> None:
        self._waiting: list[tuple[str, int]] = []

    def add_request(self, name: str, prompt: dict[str, list[int]], params: Any, lora_request: Any) -> None:
        self._waiting.append((name, prompt["prompt_token_ids"][0]))

    def step(self) -> list[Any]:
        done, self._waiting = self._waiting, []
        return [self._output(name, list(WRITTEN)[token - 1]) for name, token in done]

    def _output(self, name: str, text: str) -> Any:
        best = types.SimpleNamespace(
            text=text, token_ids=WRITTEN[text], finish_reason="length" if text == "long" else "stop"
        )
        return types.SimpleNamespace(
            request_id=name, finished=True, prompt_token_ids=[1], num_cached_tokens=0, outputs=[best]
        )


def load_weights(*_: object, use_safetensors: bool = False, **__: object) -> Model:
    assert use_safetensors  # other weights may run code
    return Model()


@pytest.fixture(autouse=True)
def engines(monkeypatch: pytest.MonkeyPatch) -> None:
    cuda = types.SimpleNamespace(is_available=lambda: False)
    torch = {"inference_mode": contextlib.nullcontext, "OutOfMemoryError": MemoryError, "cuda": cuda}
    loaded = types.SimpleNamespace(from_pretrained=lambda *_, **__: Tokenizer())
    model = types.SimpleNamespace(from_pretrained=load_weights)
    llm = types.SimpleNamespace(llm_engine=Engine(), get_tokenizer=Tokenizer)
    utils = types.SimpleNamespace(logging=types.SimpleNamespace(disable_progress_bar=lambda: None))
    for name, attributes in {
        "torch": torch,
        "transformers": {"AutoTokenizer": loaded, "AutoModelForCausalLM": model, "utils": utils},
        "vllm": {"LLM": lambda **_: llm, "SamplingParams": dict},
    }.items():
        module = types.ModuleType(name)
        module.__dict__.update(attributes)
        monkeypatch.setitem(sys.modules, name, module)


def ask(backend: Any) -> dict[str, Reply]:
    return dict(backend.complete((text, Request((Message("user", text),), LIMIT, stop=(";",))) for text in WRITTEN))


def test_transformers_tells_what_was_cut_off(tmp_path: Path) -> None:
    found = ask(Transformers(str(tmp_path), ModelOptions()))
    assert {name: (reply.text, reply.output_tokens) for name, reply in found.items()} == {
        "long": ("1234", 4),
        "short": ("12", 2),
        "just": ("123", 3),
        "stops": ("1", 4),
    }
    assert [name for name, reply in found.items() if reply.cut_off] == ["long"]


def test_vllm_tells_what_was_cut_off() -> None:
    found = ask(Vllm("m", ModelOptions()))
    assert [name for name, reply in found.items() if reply.cut_off] == ["long"]
    assert found["long"].output_tokens == 4


@pytest.mark.parametrize(
    ("text", "cut_off", "expected"),
    [
        ("The key is in the box.", True, True),
        ("The key is in the box. Answer:", True, True),
        ("The key is in the box. Answer: jar", True, False),
        ("The key is in the box.", False, False),
    ],
)
def test_cut_off_before_the_marker_is_no_answer(text: str, cut_off: bool, expected: bool) -> None:
    assert ends_before_answer(load_prompt("chain-of-thought"), Reply(text, cut_off=cut_off)) == expected
    assert not ends_before_answer(load_prompt("zero-shot"), Reply(text, cut_off=cut_off))
    assert not ends_before_answer(OneStep(), Reply(text, cut_off=cut_off))


@pytest.mark.parametrize("name", ["openai/", "vllm/", "hf/", "local/"])
def test_name_of_a_model_that_is_missing(name: str) -> None:
    with pytest.raises(ConfigError, match=f"the model's name is missing after '{name}'; give {name}NAME"):
        load_backend(name, ModelOptions())
