"""A story that plays: sentences appear, beliefs change, a false belief turns red, and the proof lights up at the end.

What is played is a picture that says where its sentences begin (`data-rows`), with what belongs to them in the group
`told`, the deciding sentences in `proof` and the answer in `end`. As SVG it plays in browsers, without a script; as GIF
everywhere.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from typing import Any

from storyproof.errors import DataError
from storyproof.pictures.svg import captioned, element, number, safe, standalone
from storyproof.runtime.optional_packages import need

FOOTER = "storyproof · proved"
STEP_S, END_S = 0.9, 4.0  # how long a sentence and the end stand
_PLAYS = 3  # of an SVG, which then rests: what moves for ever cannot be read beside
_SCALE = 2.0
_COLOURS = 256
_ROWS = re.compile(r'data-rows="([\d. ]+)"')
_SIZE = re.compile(r'width="([\d.]+)" height="([\d.]+)"')
_GROUP = re.compile(r'<g( class="(told|proof|end)")>')


def can_play(picture: str) -> bool:
    """Return whether a picture says where its sentences begin."""
    return _ROWS.search(picture) is not None and '<g class="told">' in picture


def animated_svg(picture: str, question: str = "") -> str:
    """Return a picture that plays below a question, as a file of its own with a background and a small footer.

    Raises:
        DataError: If it does not say where its sentences begin.
    """
    rows = _rows(picture)
    times = [STEP_S * place for place in range(len(rows))]
    whole = times[-1] + END_S
    heights = [0.0, *rows[1:]]
    keys = ";".join(f"{time / whole:.4f}" for time in times)

    def animation(attribute: str, values: Sequence[str], moments: str) -> str:
        return (
            f'<animate attributeName="{attribute}" values="{";".join(values)}" keyTimes="{moments}" '
            f'calcMode="discrete" dur="{whole:g}s" repeatCount="{_PLAYS}" fill="freeze"/>'
        )

    shown = f'<rect x="0" y="0" width="100%" height="{number(rows[-1])}">'
    shown += animation("height", [number(height) for height in heights], keys) + "</rect>"
    last = f"0;{times[-1] / whole:.4f}"
    late = animation("opacity", ["0", "1"], last)
    marked = _GROUP.sub(
        lambda found: f'<g{found[1]} clip-path="url(#played)">' if found[2] == "told" else f"<g{found[1]}>{late}",
        _prepared(picture, question),
    )
    head, end, rest = standalone(marked).partition(">")
    return f'{head}{end}<defs><clipPath id="played">{shown}</clipPath></defs>{rest}'


def animated_gif(picture: str, question: str = "") -> bytes:
    """Return a picture that plays below a question, as a GIF.

    Raises:
        ConfigError: If the extra `pages` is not installed.
        DataError: If it does not say where its sentences begin.
    """
    convert = need("vl_convert", "pages", "An animated picture")
    need("PIL", "pages", "An animated picture")
    from PIL import Image

    rows = _rows(picture)
    whole = _prepared(picture, question)
    frames: list[Any] = []
    for place, row in enumerate(rows):
        drawn = standalone(_still(whole, row if place else 0.0, at_end=False), dark=False)
        frames.append(Image.open(BytesIO(convert.svg_to_png(drawn, scale=_SCALE))).convert("RGB"))
    last = standalone(_still(whole, rows[-1], at_end=True), dark=False)
    frames.append(Image.open(BytesIO(convert.svg_to_png(last, scale=_SCALE))).convert("RGB"))
    # The commonest colours of the last picture, which has all that is in the others, as they are: white stays white.
    commonest = sorted(frames[-1].getcolors(frames[-1].width * frames[-1].height))[-_COLOURS:]
    palette = Image.new("P", (1, 1))
    palette.putpalette([part for _, shade in commonest for part in shade])
    found = [frame.quantize(palette=palette, dither=Image.Dither.NONE) for frame in frames]
    milliseconds = [round(1000 * STEP_S)] * (len(found) - 1) + [round(1000 * END_S)]
    out = BytesIO()
    found[0].save(out, "GIF", save_all=True, append_images=found[1:], duration=milliseconds, loop=0, optimize=True)
    return out.getvalue()


def _rows(picture: str) -> list[float]:
    found = _ROWS.search(picture)
    if found is None or not can_play(picture):
        raise DataError("this picture does not play sentence by sentence; write .svg, .png or .pdf, without --play.")
    return [float(row) for row in found[1].split()]


def _still(picture: str, height: float, *, at_end: bool) -> str:
    """Return a picture as it stands after some sentences."""

    def group(found: re.Match[str]) -> str:
        if found[2] == "told":
            return f'<g{found[1]} clip-path="url(#played)">'
        return f'<g{found[1]} opacity="{int(at_end)}">'

    clip = f'<defs><clipPath id="played"><rect x="0" y="0" width="10000" height="{number(height)}"/></clipPath></defs>'
    head, end, rest = _GROUP.sub(group, picture).partition(">")
    return f"{head}{end}{clip}{rest}"


def _prepared(picture: str, question: str) -> str:
    """Return a picture with the question above and the footer below it; what decides is not told before the end."""
    picture = captioned(picture.replace(' class="strong"', ""), [question] if question else [])
    size = _SIZE.search(picture)
    assert size is not None  # frame() writes it
    width, height = float(size[1]), float(size[2])
    taller = f'width="{number(width)}" height="{number(height + 18)}"'
    text = element("text", safe(FOOTER), x=width - 10, y=height + 8, text_anchor="end", class_="quiet", font_size=11)
    moved = picture.replace(size[0], taller, 1)
    moved = re.sub(r'viewBox="[^"]*"', f'viewBox="0 0 {number(width)} {number(height + 18)}"', moved, count=1)
    return moved.removesuffix("</svg>") + text + "</svg>"
