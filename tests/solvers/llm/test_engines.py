"""Models in this process, with real engines: `make test-llm` installs what this needs."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import storyproof
from storyproof.solvers.llm.backend import Backend
from storyproof.solvers.llm.messages import Message, Reply, Request
from storyproof.solvers.llm.options import ModelOptions
from storyproof.solvers.solver import load_backend
from tests.samples import STORY

pytestmark = [pytest.mark.llm, pytest.mark.filterwarnings("default")]

TEXTS = [f"{STORY}\nWhere will {name} look for the key?" for name in ("Ben", "Ada", "the very tall Ben", "B")]
VLLM = {"dtype": "float32", "enforce_eager": True, "max_model_len": 512}


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.tiny_model import make_tiny_model

    return make_tiny_model(tmp_path_factory.mktemp("tiny"))


def ask(backend: Backend, *texts: str, **changes: Any) -> list[Reply]:
    requests = [
        (str(n), Request((Message("user", text),), **{"max_tokens": 8, **changes})) for n, text in enumerate(texts)
    ]
    found = dict(backend.complete(requests))
    return [found[str(n)] for n in range(len(texts))]


def hf(path: Path, **options: Any) -> Backend:
    return load_backend(f"hf/{path}", ModelOptions(**options))


@pytest.fixture(scope="module")
def vllm(tiny: Path) -> Iterator[Backend]:
    pytest.importorskip("vllm")
    os.environ.setdefault("VLLM_CPU_KVCACHE_SPACE", "1")
    os.environ.setdefault("VLLM_CPU_OMP_THREADS_BIND", "nobind")
    os.environ.setdefault("VLLM_ENABLE_V1_MULTIPROCESSING", "0")
    backend = load_backend(f"vllm/{tiny}", ModelOptions(extra=VLLM))
    yield backend
    backend.close()


def test_batches_do_not_change_replies(tiny: Path) -> None:
    together, alone = (ask(hf(tiny, batch_size=size), *TEXTS) for size in (4, 1))
    assert [reply.text for reply in together] == [reply.text for reply in alone]
    assert all(reply.error is None and reply.text for reply in together)
    assert len({reply.prompt_tokens for reply in together}) > 1  # so there was something to pad


def test_folder_by_its_path(tiny: Path) -> None:
    assert ask(load_backend(str(tiny), ModelOptions()), TEXTS[0])[0].text == ask(hf(tiny), TEXTS[0])[0].text


def test_chat_template_is_used_unless_completion_is_wanted(tiny: Path) -> None:
    chat, plain = ask(hf(tiny), TEXTS[0])[0], ask(hf(tiny, api="completion"), TEXTS[0])[0]
    assert (chat.prompt_tokens or 0) > (plain.prompt_tokens or 0)


def test_reply_ends_where_it_should(tiny: Path) -> None:
    whole = ask(hf(tiny), TEXTS[0])[0].text
    stop = whole[3:5]
    assert ask(hf(tiny), TEXTS[0], stop=(stop,))[0].text == whole.split(stop)[0]
    assert ask(hf(tiny), TEXTS[0], max_tokens=3)[0].output_tokens == 3


def test_tells_whether_a_reply_was_cut_off(tiny: Path, vllm: Backend) -> None:
    for backend in (hf(tiny, extra={"dtype": "float32"}), vllm):
        [whole] = ask(backend, TEXTS[0], max_tokens=3)
        assert whole.cut_off
        assert not ask(backend, TEXTS[0], max_tokens=3, stop=(whole.text[:1],))[0].cut_off


def test_draws_are_repeatable(tiny: Path) -> None:
    first, again, other = (ask(hf(tiny, temperature=1.5, seed=seed), *TEXTS) for seed in (1, 1, 2))
    assert [reply.text for reply in first] == [reply.text for reply in again] != [reply.text for reply in other]


def test_choices_by_likelihood(tiny: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    replies = ask(hf(tiny, batch_size=3), *TEXTS, choices=("A", "B", "box"))
    model, tokenizer = AutoModelForCausalLM.from_pretrained(tiny), AutoTokenizer.from_pretrained(tiny)
    for text, reply in zip(TEXTS, replies, strict=True):
        prompt = tokenizer.apply_chat_template(
            [{"role": "user", "content": text}], tokenize=False, add_generation_prompt=True
        )
        known = tokenizer(prompt)["input_ids"]
        for choice, score in zip(("A", "B", "box"), reply.choice_scores or (), strict=True):
            full = tokenizer(prompt + choice)["input_ids"]
            with torch.no_grad():
                logs = torch.log_softmax(model(torch.tensor([full])).logits[0], -1)
            expected = sum(float(logs[place - 1, full[place]]) for place in range(len(known), len(full)))
            assert score == pytest.approx(expected, abs=1e-3)
        best = max(range(3), key=lambda place: (reply.choice_scores or ())[place])
        assert reply.text == ("A", "B", "box")[best]


def test_context_too_long(tiny: Path) -> None:
    short, long = ask(hf(tiny), "Where?", STORY * 20)
    assert short.error is None
    assert (long.error or "").startswith("context too long: ")


def test_vllm_says_what_transformers_says(tiny: Path, vllm: Backend) -> None:
    replies, expected = ask(vllm, *TEXTS), ask(hf(tiny, extra={"dtype": "float32"}), *TEXTS)
    # A random model may end within a character, which one of them leaves out.
    assert [reply.text.rstrip("\ufffd") for reply in replies] == [reply.text.rstrip("\ufffd") for reply in expected]
    assert [reply.prompt_tokens for reply in replies] == [reply.prompt_tokens for reply in expected]
    assert vllm.about()["max_model_len"] == 512


def test_vllm_scores_choices_as_transformers_does(tiny: Path, vllm: Backend) -> None:
    choices = ("A", "B", "box")
    replies, expected = (ask(each, *TEXTS, choices=choices) for each in (vllm, hf(tiny, extra={"dtype": "float32"})))
    for reply, other in zip(replies, expected, strict=True):
        assert reply.choice_scores == pytest.approx(other.choice_scores, abs=1e-2)
        assert reply.text == other.text


def test_vllm_context_too_long(vllm: Backend) -> None:
    short, long = ask(vllm, "Where?", STORY * 40)
    assert short.error is None
    assert (long.error or "").startswith("context too long: ")


def test_evaluates_with_transformers(tiny: Path, tmp_path: Path) -> None:
    data = tmp_path / "tomi"
    storyproof.generate("tomi", test=6, seed=7, out=data)
    for prompt in ("zero-shot", "multiple-choice"):
        found = storyproof.evaluate(f"hf/{tiny}", data, prompt=prompt, output_dir=tmp_path / "out")
        assert found.scores.questions == 36
        assert found.path is not None
        assert json.loads(found.path.read_text())["backend"]["dtype"] == "torch.float32"


@pytest.fixture(scope="module")
def smollm2() -> str:
    pytest.importorskip("xllamacpp")
    storyproof.pull("smollm2")
    return "local/smollm2"


def test_smollm2_answers(smollm2: str) -> None:
    story = "Oliver entered the room. The apple is in the basket. Oliver moved the apple to the drawer."
    found = storyproof.ask(smollm2, story=story, question="Where is the apple now?", answer="drawer")
    assert "drawer" in found.answer
    assert found.matches["careful"].right


def test_smollm2_scores_letters(smollm2: str) -> None:
    [reply] = ask(load_backend(smollm2, ModelOptions()), "Which comes first? Answer A or B.", choices=("A", "B"))
    assert reply.text in ("A", "B")
    assert len(reply.choice_scores or ()) == 2


def test_smollm2_context_too_long(smollm2: str) -> None:
    [reply] = ask(load_backend(smollm2, ModelOptions(extra={"n_ctx": 256})), STORY * 40)
    assert "context" in (reply.error or "")
