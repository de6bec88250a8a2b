"""storyproof ask."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli import evaluation_options as options
from storyproof.cli.output import check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import complain, echo, echo_text

if TYPE_CHECKING:
    from storyproof.evaluation.ask import Asker, Exchange


def ask(
    context: typer.Context,
    model: Annotated[str, typer.Option(help="The model, as for evaluate.")],
    data: Annotated[Path | None, typer.Option(help="A dataset folder or a file.")] = None,
    index: Annotated[int, typer.Option(help="Which question of it, counted from 0.")] = 0,
    split: options.Split = None,
    exclude_memory_reality: Annotated[
        bool, typer.Option("--exclude-memory-reality", help="Count questions about beliefs only.")
    ] = False,
    story: Annotated[str | None, typer.Option(help="A story of your own.")] = None,
    question: Annotated[str | None, typer.Option(help="The question about the story.")] = None,
    answer: Annotated[str | None, typer.Option(help="The right answer, if it is to be judged.")] = None,
    prompt: Annotated[str, typer.Option(help="A prompt's name or file, or module:function.")] = "zero-shot",
    conventions: options.Conventions = True,
    seed: options.Seed = 0,
    max_tokens: options.MaxTokens = None,
    show_prompt: Annotated[bool, typer.Option("--show-prompt", help="Also show what exactly is asked.")] = False,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write the result to a file; - for standard output.")
    ] = None,
) -> None:
    """Ask a model one question, of a dataset or of your own; without either, one after the other as you type them."""
    from storyproof.errors import ConfigError
    from storyproof.evaluation.ask import FEW_RETRIES, Asker, own_example, pick
    from storyproof.solvers.solver import resolve

    if data is not None and (story is not None or question is not None):
        raise ConfigError("give either --data and --index, or --story and --question.")
    if (story is None) != (question is None):
        raise ConfigError("a story of your own needs both --story and --question.")
    check_results(json_out, [data, prompt])
    options.refuse_ineffective(context, [resolve(model)])
    running = options.model_options(context, seed=seed, concurrency=1, retries=FEW_RETRIES)
    with progress_bar(f"{model}: loading", None):
        asker = Asker(
            model, prompt=prompt, data=data, options=running, seed=seed, max_tokens=max_tokens, conventions=conventions
        )
    try:
        if data is None and story is None:
            _converse(asker, show_prompt)
            return
        if data is not None:
            example = pick(data, index, split, exclude_memory_reality)
        else:
            example = own_example(story or "", question or "", answer)
        with progress_bar(f"{model}: asking", None):
            exchange = asker.ask(example)
    finally:
        asker.close()
    if not write_results(json_out, [exchange.as_dict()]):
        _print(exchange, show_prompt, with_story=data is not None)


def _converse(asker: Asker, show_prompt: bool) -> None:
    """Ask what is typed, until there is no more; a question that cannot be answered does not end the talk."""
    from storyproof.errors import StoryproofError
    from storyproof.evaluation.ask import own_example

    echo("Type a story and end it with an empty line; an empty story ends the talk.", err=True)
    while story := _lines():
        while question := _line("question: "):
            answer = _line("right answer (may be empty): ")
            try:
                with progress_bar("asking", None):
                    exchange = asker.ask(own_example(story, question, answer))
            except StoryproofError as error:
                complain(error)
                continue
            _print(exchange, show_prompt, with_story=False)
        echo("Next story:", err=True)


def _lines() -> str:
    lines = []
    while line := _line("> "):
        lines.append(line)
    return "\n".join(lines)


def _line(question: str) -> str:
    """Read a line; nothing at the end."""
    if sys.stdin.isatty():
        echo(question, end="", err=True)
    return sys.stdin.readline().strip()


def _print(exchange: Exchange, show_prompt: bool, *, with_story: bool) -> None:
    if with_story and not show_prompt:
        echo_text(f"{exchange.example.story}\n\n{exchange.example.question}\n")
    for number, (request, reply) in enumerate(exchange.steps, start=1):
        step = f"step {number} " if len(exchange.steps) > 1 else ""
        if show_prompt:
            echo_text(f"{step}prompt:\n{request.text}\n")
        if step or reply != exchange.answer:
            echo_text(f"{step}reply: {reply}")
    for written, read in exchange.read_as:
        echo_text(f"read '{written}' as '{read}'" if read else f"left out '{written}', which says nothing")
    none = "no answer: the reply was cut off before it; raise --max-tokens"
    echo_text(f"{exchange.model}: {none if exchange.cut_off else exchange.answer}")
    if exchange.matches:
        judged = ", ".join(f"{name} {each.kind}" for name, each in exchange.matches.items())
        right = "right" if exchange.matches["careful"].right else "wrong"
        echo(f"expected: {exchange.example.answer} ({right}: {judged})")
