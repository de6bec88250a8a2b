"""Fine-tune a small language model on fresh stories with proofs, and measure it before and after.

    python examples/finetune/finetune.py --model SmolLM2-135M-Instruct.gguf --out runs/finetune \
        --published shared/tomi/fb_all_val.txt

Needs storyproof, torch and transformers; on one GPU it takes minutes. Training is supervised fine-tuning on proofs,
then GRPO with the reward `exact` or `stepwise`, both with low-rank adapters. Training and test stories come from
different seeds and splits, so none of the test stories has been seen. The results are written to results.json.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from lora import add_lora, load_adapter, save_adapter
from policy import Policy
from training import Question, fine_tune, reinforce

import storyproof
from storyproof import rewards
from storyproof.datasets.reading import as_example
from storyproof.evaluation.scores import Tally
from storyproof.example import Example

TRAIN_SEED, TEST_SEED = 1_000, 9_000
PROMPT = "chain-of-thought"


def questions(benchmark: str, preset: str | None, seed: int) -> Iterator[Question]:
    """Yield questions about fresh stories, one per story, so that neighbours differ."""
    chosen = random.Random(seed)
    for story in storyproof.stream(benchmark, seed=seed, preset=preset):
        row = chosen.choice(story.rows)
        yield Question(list(storyproof.prompt(row, PROMPT).chat), row)


def test_sets(options: argparse.Namespace) -> dict[str, list[Example]]:
    """Return the rows of each test set: fresh stories of several benchmarks, and published ones with proved labels."""
    found = {}
    for benchmark, preset in dict.fromkeys([(options.benchmark, options.preset), *_others(options.others)]):
        stories = storyproof.stream(benchmark, seed=TEST_SEED + options.seed, split="test", preset=preset)
        name = f"{benchmark} {preset}" if preset else benchmark
        found[f"{name} (fresh)"] = [row for story in stories[: options.test_stories] for row in story.rows]
    if options.published:
        rows = storyproof.load(options.published, labels="proved").to_pylist()
        wanted = {row["story_id"] for row in rows}
        kept = set(random.Random(options.seed).sample(sorted(wanted), min(options.test_stories, len(wanted))))
        found["published, corrected"] = [as_example(row) for row in rows if row["story_id"] in kept]
    return {name: rows for name, rows in found.items() if rows}


def _others(named: str) -> list[tuple[str, str | None]]:
    """Read the names of further benchmarks, such as `tomi-matched,tom-k:plain`, with a preset behind the colon."""
    parts = [name.partition(":") for name in named.split(",") if name]
    return [(benchmark, preset or None) for benchmark, _, preset in parts]


def measure(policy: Policy, rows: Sequence[Example], options: argparse.Namespace) -> dict[str, Any]:
    """Return accuracy and joint accuracy with their intervals, by greedy replies."""
    tally = Tally()
    asked = sorted(rows, key=lambda row: len(row.story))
    steps = wrong = 0
    for start in range(0, len(asked), options.test_batch):
        some = asked[start : start + options.test_batch]
        words = [policy.words(storyproof.prompt(row, PROMPT).chat) for row in some]
        for row, reply in zip(some, policy.sample(words, tokens=options.tokens, temperature=0.0), strict=True):
            text = policy.text(reply)
            tally.add_exact(row, row.answer if storyproof.judge(text, row, prompt=PROMPT) else "")
            report = rewards.check_steps(text, row)
            steps, wrong = steps + report.counted, wrong + (report.first_wrong is not None)
    scores, spans = tally.scores(), tally.intervals()
    return {
        "questions": scores.questions,
        "stories": scores.stories,
        "accuracy": round(scores.accuracy, 4),
        "accuracy_interval": [round(end, 4) for end in spans["accuracy"]],
        "joint_accuracy": round(scores.joint_accuracy, 4),
        "by_false_belief": {name: round(value, 4) for name, value in scores.by_false_belief.items()},
        "steps_checked": steps,
        "replies_with_a_wrong_step": wrong,
    }


def main(arguments: Sequence[str] | None = None) -> dict[str, Any]:
    """Measure, train and measure again."""
    options = parse(arguments)
    options.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(options.seed)
    policy = Policy(options.model, options.device)
    trained = add_lora(policy.model, options.rank, 2.0 * options.rank)
    print(f"{trained:,} trained parameters on {policy.device}", flush=True)
    sets = test_sets(options)
    results: dict[str, Any] = {"options": {name: str(value) for name, value in vars(options).items()}, "scores": {}}
    log = (options.out / "log.jsonl").open("a")

    def report(line: dict[str, Any]) -> None:
        log.write(json.dumps(line) + "\n")
        log.flush()
        if line["step"] % options.every == 0:
            print(json.dumps(line), flush=True)

    def score(when: str) -> None:
        begun = time.monotonic()
        results["scores"][when] = {name: measure(policy, rows, options) for name, rows in sets.items()}
        (options.out / "results.json").write_text(json.dumps(results, indent=1))
        for name, found in results["scores"][when].items():
            low, high = found["accuracy_interval"]
            shown = f"{found['accuracy']:6.1%} ({low:.1%} to {high:.1%})  joint {found['joint_accuracy']:6.1%}"
            print(f"{when:12} {name:24} {shown}", flush=True)
        print(f"{when}: measured in {time.monotonic() - begun:.0f} s", flush=True)

    if options.adapter:
        load_adapter(policy.model, options.adapter)
    else:
        score("before")
    fresh = questions(options.benchmark, options.preset, TRAIN_SEED + options.seed)
    if options.sft_steps:
        fine_tune(policy, fresh, steps=options.sft_steps, batch=options.sft_batch, rate=options.sft_rate, report=report)
        save_adapter(policy.model, options.out / "adapter-sft.pt")
        score("after SFT")
    if options.grpo_steps:
        if options.adapter:
            fresh = islice(fresh, options.skip, None)
        reinforce(
            policy,
            fresh,
            steps=options.grpo_steps,
            prompts=options.grpo_prompts,
            group=options.grpo_group,
            tokens=options.grpo_tokens,
            rate=options.grpo_rate,
            reward={"exact": rewards.exact, "stepwise": rewards.stepwise}[options.reward],
            report=report,
        )
        save_adapter(policy.model, options.out / "adapter-grpo.pt")
        score("after GRPO")
    if options.adapter and not (options.sft_steps or options.grpo_steps):
        score(options.adapter.stem)
    log.close()
    print(f"written to {options.out / 'results.json'}")
    return results


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add = parser.add_argument
    add("--model", required=True, help="a folder in Hugging Face's form, or a .gguf file")
    add("--out", type=Path, required=True, help="folder for adapters, log and results")
    add("--benchmark", default="tomi", help="what is trained on")
    add("--preset", help="its preset, such as plain (tom-k)")
    add(
        "--others",
        default="tomi-matched,tom-babi,tom-k,clutrr",
        help="further benchmarks to measure on; a preset follows a colon, as in tom-k:plain",
    )
    add("--published", help="published ToMi (.txt); its labels are replaced by proved ones")
    add("--adapter", type=Path, help="begin with these adapters; without steps, only measure them")
    add("--skip", type=int, default=0, help="questions that those adapters have seen")
    add("--seed", type=int, default=0)
    add("--device")
    add("--rank", type=int, default=16)
    add("--sft-steps", type=int, default=400)
    add("--sft-batch", type=int, default=32)
    add("--sft-rate", type=float, default=1e-3)
    add("--grpo-steps", type=int, default=100)
    add("--grpo-prompts", type=int, default=32)
    add("--grpo-group", type=int, default=8)
    add("--grpo-tokens", type=int, default=96, help="tokens of a reply at most, in GRPO")
    add("--grpo-rate", type=float, default=1e-4)
    add("--reward", choices=("exact", "stepwise"), default="exact")
    add("--tokens", type=int, default=160, help="tokens of a reply at most, when measuring")
    add("--test-stories", type=int, default=100)
    add("--test-batch", type=int, default=128)
    add("--every", type=int, default=10, help="print every N steps")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    main()
