"""The verb `draw`: a story as a picture in a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from storyproof.datasets.frames import Data, takes_rows
from storyproof.errors import ConfigError, DataError
from storyproof.example import Example
from storyproof.families.family import Picture, family_of
from storyproof.io.atomic_files import write_whole, writing_to
from storyproof.pictures.svg import captioned, standalone
from storyproof.reports.animation import animated_gif, animated_svg
from storyproof.reports.charts import shrink_png
from storyproof.reports.show import read_story
from storyproof.runtime.optional_packages import need

FORMATS = (".svg", ".png", ".pdf", ".gif")
GIF = ".gif"
_SCALE = 3.0  # pixels of a PNG per pixel of the picture


@takes_rows("path")
def draw(
    path: Data,
    index: int = 0,
    *,
    split: str | None = None,
    question: int | None = None,
    out: str | Path | None = None,
    play: bool = False,
) -> list[Picture]:
    """Draw a story with one of its questions.

    Args:
        path: A dataset folder or a file, or rows in memory, as for `show`.
        index: Which story, counted from 0.
        split: Which split of a folder; by default test, or the only one there is.
        question: Which of the story's questions, counted from 0; by default the simplest about a false belief, else
            the last.
        out: Where to write the picture: a file that ends in .svg, .png, .pdf or .gif. Where there are several pictures,
            the others are written beside it, numbered from 2. A .gif plays the story sentence by sentence.
        play: Whether a .svg plays it, too.

    Raises:
        ConfigError: If there is no such story, question or format.
        DataError: If the data cannot be read, or there is nothing to draw.

    Example:
        >>> import storyproof
        >>> _ = storyproof.generate("tomi", test=30, seed=7, out="data")
        >>> [picture] = storyproof.draw("data", 3, out="story.svg")
        >>> picture.svg.startswith("<svg")
        True
    """
    if out is not None:
        check_format(Path(out), play=play)
    elif play:
        raise ConfigError("--play needs a file to play in; add --out story.svg or --out story.gif.")
    story, where = read_story(path, index, split=split)
    number = _choose(story) if question is None else question
    if not 0 <= number < len(story):
        raise ConfigError(
            f"--question is {number}, but the story has only {len(story)} questions; they are counted from 0."
        )
    asked = story[number]
    try:
        drawn = family_of(asked).pictures([*story[:number], *story[number + 1 :], asked], asked.proof)
    except DataError as error:
        raise DataError(f"{where}: {error}") from error
    if out is not None:
        for file, picture in zip(files_of(Path(out), len(drawn)), drawn, strict=True):
            write_picture(file, picture, [asked.question, f"Answer: {asked.answer}"], play=play)
    return drawn


def _choose(story: Sequence[Example]) -> int:
    """Return the simplest question about a false belief, else the last one."""
    wrong = [(example.order, number) for number, example in enumerate(story) if example.false_belief]
    return min(wrong)[1] if wrong else len(story) - 1


def check_format(out: Path, *, play: bool = False) -> None:
    """Raise ConfigError unless a picture can be written to a file of this name."""
    if play and out.suffix.lower() not in (".svg", GIF):
        raise ConfigError(f"--play writes .svg and .gif only, but --out is {out}.")
    if out.suffix.lower() not in FORMATS:
        raise ConfigError(f"--out is {out}; its name must end in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}.")
    if out.suffix.lower() != ".svg":
        need("vl_convert", "pages", f"A picture as {out.suffix.lower()[1:].upper()}")


def files_of(out: Path, count: int) -> list[Path]:
    """Return the files of several pictures: the first as given, the others numbered from 2."""
    return [out, *(out.with_stem(f"{out.stem}-{number}") for number in range(2, count + 1))]


def write_picture(out: Path, picture: Picture, lines: Sequence[str], *, play: bool = False) -> None:
    """Write a picture to a file, below some lines of text; the ending of the name is the format.

    Raises:
        DataError: If it cannot be written, or does not play and should.
    """
    form = out.suffix.lower()
    if play or form == GIF:
        above = lines[0] if lines else ""  # not the answer, which comes at the end
        played = animated_gif(picture.svg, above) if form == GIF else animated_svg(picture.svg, above).encode()
        with writing_to(out):
            write_whole(out, played)
        return
    svg = standalone(captioned(picture.svg, lines), dark=form == ".svg")
    if form == ".svg":
        content = svg.encode()
    else:
        convert = need("vl_convert", "pages", "A picture as PNG or PDF")
        content = shrink_png(convert.svg_to_png(svg, scale=_SCALE)) if form == ".png" else convert.svg_to_pdf(svg)
    with writing_to(out):
        write_whole(out, content)
