"""storyproof doctor."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from storyproof.cli.output import check_results, write_results
from storyproof.cli.progress import progress_bar
from storyproof.cli.safe_terminal import echo, note

if TYPE_CHECKING:
    from storyproof.reports.doctor import ExtraState, InstallationState


def doctor(
    where: Annotated[
        str | None, typer.Option(help="Print the path of the files for another tool instead: lm-eval.")
    ] = None,
    pull: Annotated[
        str | None, typer.Option(help="Download the weights of local/NAME instead, checked by hash: smollm2.")
    ] = None,
    json_out: Annotated[
        Path | None, typer.Option("--json", help="Write everything to a JSON file; - for standard output.")
    ] = None,
) -> None:
    """Report installed extras and problems, with what to do. Exit code 1 if something is broken."""
    import storyproof

    if where is not None:
        echo(str(storyproof.where(where)))
    if pull is not None:
        with progress_bar(pull, None):
            path = storyproof.pull(pull)
        note(f"{pull} is at {path}; ask it as local/{pull}")
    if where is not None or pull is not None:
        return
    check_results(json_out)
    with progress_bar("packages", None) as progress:
        diagnosis = storyproof.doctor(progress=progress)
    if not write_results(json_out, [diagnosis.as_dict()]):
        _print(diagnosis)
    if not diagnosis.ok:
        raise typer.Exit(1)


def _print(diagnosis: InstallationState) -> None:
    echo(f"storyproof {diagnosis.version} in {diagnosis.place}")
    echo(f"Python {diagnosis.python} on {diagnosis.system}")
    width = max(len(extra.name) for extra in (diagnosis.core, *diagnosis.extras))
    for extra in (diagnosis.core, *diagnosis.extras):
        echo(f"  {extra.name or 'core':{width}}  {extra.state:8} {_about(extra)}".rstrip())
        if extra.remedy:
            echo(f"  {'':{width}}           {extra.remedy}")
    for problem in diagnosis.problems:
        echo(f"problem: {problem}")
    for line in diagnosis.notes:
        echo(line)
    echo("All that is installed works." if diagnosis.ok else "Something is broken; see above for what to do.")


def _about(extra: ExtraState) -> str:
    """Return the packages that matter: what is wrong with those that do not work, else what the extra is for."""
    wrong = [each for each in extra.packages if each.state != "works"]
    if not wrong:
        return extra.purpose
    listed = ", ".join(
        f"{each.name} {each.version or each.needs}".strip() + (f" ({each.why})" if each.why else "") for each in wrong
    )
    return f"{extra.purpose}: {listed}"
