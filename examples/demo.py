"""A tour of storyproof on one screen: `make demo`, or `python examples/demo.py [FOLDER]`.

It writes its files to FOLDER, by default `demo`. It needs the extra `local` for the language model, and says so where
it is missing.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

from rich.console import Console
from rich.text import Text

import storyproof
from storyproof.evaluation import Evaluation
from storyproof.language.display_names import display_name
from storyproof.reports.runs import scores_view

WIDTH = 110
SCORED = 300  # stories for the solvers
QUESTIONS = 10  # for the language model
PULL_S = 20  # a slow network must not hold up the tour
MODEL = "local/smollm2"


def main(folder: Path, stories: int = 1000) -> None:
    """Show what storyproof does."""
    data = make_stories(folder, stories)
    find_flaws(folder)
    runs = compare_solvers(data)
    draw_story()
    ask_language_model(data)
    write_page(folder, runs)


def title(text: str) -> None:
    """Print the beginning of a part of the tour."""
    print(f"\n{text}")


def cut(text: str) -> str:
    """Return text that fits on a line."""
    return textwrap.shorten(text, WIDTH - 6, placeholder=" …")


def make_stories(folder: Path, stories: int) -> Path:
    """Make stories, and prove the answers once more from their text."""
    start = time.perf_counter()
    data = folder / "tomi"
    storyproof.generate("tomi", test=stories, seed=7, out=data, force=True)
    found = storyproof.verify(data, proofs=True)
    seconds = time.perf_counter() - start
    title(f"1. Stories with proved answers: generate, verify ({seconds:.0f} s)")
    print(
        f"   {found.questions:,} questions of {found.stories:,} stories; two programs derived every answer from "
        "the text,\n"
        f"   {len(found.disagreements)} disagreements; {found.proofs_checked:,} proofs checked by leaving out sentences"
    )
    return data


def find_flaws(folder: Path) -> None:
    """Put the flaws of published ToMi into a small file, and let an audit find and correct them."""
    flawed, corrected = folder / "flawed", folder / "corrected"
    storyproof.generate("tomi", test=12, seed=7, format="babi", out=folder / "small", force=True)
    flawed.mkdir(exist_ok=True)
    for name in ("test.txt", "test.trace"):
        shutil.copyfile(folder / "small" / name, flawed / name)
    spoil(flawed / "test.txt", flawed / "test.trace")
    found = storyproof.audit(flawed)
    findings = [each for report in found.files for each in report.findings]
    title(f"2. The flaws of published ToMi in a file of 12 stories: audit finds {len(findings)} wrong labels")
    for field in dict.fromkeys(each.field for each in findings):
        first, *more = [each for each in findings if each.field == field]
        others = f" (and {len(more)} more)" if more else ""
        found_name, expected_name = (display_name(str(name)) for name in (first.found, first.expected))
        print(f"   {display_name(field)}: {found_name} should be {expected_name}{others}")
        if first.reason:
            print(f"      {cut(f'because {first.reason}')}")
    if (corrected / "errata.csv").exists():  # of an earlier tour
        shutil.rmtree(corrected)
    storyproof.audit(flawed, fix=corrected)
    print(f"   corrected files are in {corrected}; an audit of them finds {len(problems(corrected))} wrong labels")


def problems(data: Path) -> list[object]:
    """Return what an audit finds in a folder."""
    return [each for report in storyproof.audit(data).files for each in report.findings]


def spoil(text: Path, trace: Path) -> None:
    """Give a story another type, another one the other agents' numbers, and a third one a wrong answer."""
    types = trace.read_text(encoding="utf-8").splitlines()
    starts = [row for row in range(0, len(types), 6) if types[row].endswith(",false_belief")]
    for row in range(starts[0], starts[0] + 6):
        types[row] = types[row].removesuffix("false_belief") + "true_belief"
    swapped = str.maketrans("01", "10")
    for row in range(starts[1], starts[1] + 6):
        before, kind, story_type = types[row].rsplit(",", 2)
        types[row] = ",".join([before, kind.translate(swapped), story_type])
    trace.write_text("\n".join(types) + "\n", encoding="utf-8")
    lines = text.read_text(encoding="utf-8").splitlines()
    questions = [number for number, line in enumerate(lines) if "\t" in line]
    asked = [line.split("\t") for line in (lines[number] for number in questions[starts[2] : starts[2] + 6])]
    answers = [answer for _, answer, _ in asked]
    for place, (question, answer, proof) in enumerate(asked):
        if "think that" in question:  # a belief about a belief
            other = next(each for each in answers if each != answer)
            lines[questions[starts[2] + place]] = "\t".join([question, other, proof])
            break
    text.write_text("\n".join(lines) + "\n", encoding="utf-8")


def compare_solvers(data: Path) -> list[Evaluation]:
    """Let solvers answer, from guessing to proving."""
    models = ["random", "majority", "rules", "oracle"]
    try:
        import torch  # noqa: F401
    except ImportError:
        trained = ""
    else:
        models.insert(3, "entnet")
        trained = "; entnet: a shipped network"
    runs = [storyproof.evaluate(model, data, max_stories=SCORED) for model in models]
    title(f"3. Solvers, in percent right: evaluate (rules: the ToMi paper's algorithm{trained})")
    screen = Console(width=WIDTH)
    with screen.capture() as shown:
        screen.print(scores_view(runs))
    table = shown.get().strip("\n").partition("\n\n")[0]
    print("\n".join(line.rstrip() for line in table.splitlines()))
    return runs


def draw_story() -> None:
    """Show a story as it goes on: where somebody thinks that the object is, and where it is."""
    text = (
        "Rosa entered the workshop. Jonas entered the workshop. The rope is in the sack. Rosa exited the workshop. "
        "Jonas moved the rope to the drawer."
    )
    proved = storyproof.story(text).ask("Where will Rosa look for the rope?")
    title("4. A story as a picture: show, serve")
    steps = proved.steps(order=1)
    names = [entry.name for entry in steps[-1].entries]
    widths = [max(len(name), 14) for name in names]
    screen = Console(width=WIDTH, highlight=False)
    heads = "".join(f"{name:{width}}" for name, width in zip(names, widths, strict=True))
    screen.print(" " * 43 + heads.rstrip())
    for number, step in enumerate(steps, start=1):
        known = {entry.name: entry for entry in step.entries}
        mark = "*" if number in proved.example.proof else " "
        line = Text(f"  {mark}{number} {step.sentence:38}")
        for name, width in zip(names, widths, strict=True):
            value = known[name].value if name in known else ""
            is_wrong = name in known and known[name].is_wrong
            line.append(f"{value or '-':{width}}", style="red" if is_wrong else "")
        line.rstrip()
        screen.print(line)
    print(f"   {proved.question} {proved.answer.capitalize()}: a false belief. The sentences with * prove the answer.")


def ask_language_model(data: Path) -> None:
    """Ask a small language model some questions, if it can be had."""
    title(f"5. A small language model on {QUESTIONS} questions: evaluate --model {MODEL}")
    start = time.perf_counter()
    command = [sys.executable, "-m", "storyproof", "doctor", "--pull", MODEL.partition("/")[2]]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=PULL_S, check=False)
        if done.returncode:
            raise storyproof.StoryproofError(done.stderr.strip().removeprefix("storyproof: "))
        run = storyproof.evaluate(MODEL, data, max_samples=QUESTIONS)
    except subprocess.TimeoutExpired:
        print(f"   skipped: its weights did not arrive in {PULL_S} s; run storyproof doctor --pull smollm2")
    except storyproof.StoryproofError as error:
        print(f"   {cut(f'skipped: {error}')}")
    else:
        right = sum(bool(each["right"]) for each in run.predictions)
        first = run.predictions[0]
        seconds = time.perf_counter() - start
        print(f"   {right} of {QUESTIONS} right in {seconds:.0f} s (135 million parameters, on this CPU)")
        said = f"{first['question']} Its reply: {first['reply'].strip()!r}; the answer: {first['target']!r}."
        print(f"   {cut(said)}")


def write_page(folder: Path, runs: list[Evaluation]) -> None:
    """Write the page on all runs."""
    page = folder / "report.html"
    title("6. The page with all answers, proofs and mistakes: report")
    try:
        page.write_text(storyproof.report(runs, title="Demo").render("html"), encoding="utf-8")
    except storyproof.StoryproofError as error:
        print(f"   {cut(f'skipped: {error}')}")
    else:
        print(f"   open {page.resolve()} in a browser")
        print(f"   storyproof serve --data {folder} shows the stories, and lets you change them")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "demo"))
