import itertools
import re

import pytest

from storyproof.pictures.colours import COLOURS, HEAT, SERIES, Mode, colour, resolve, variables

# Machado, Oliveira, Fernandes 2009, severity 1.0, on linear RGB
BLINDNESS = {
    "none": ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
Linear = tuple[float, float, float]


def linear(value: str) -> Linear:
    parts = (int(value[place : place + 2], 16) / 255 for place in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return red, green, blue


def luminance(value: str) -> float:
    red, green, blue = linear(value)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(first: str, second: str) -> float:
    light, dark = sorted((luminance(first), luminance(second)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def seen(value: str, kind: str) -> tuple[float, float, float]:
    """Return a colour in CIELAB as somebody sees it."""
    parts = linear(value)
    red, green, blue = (
        min(max(sum(a * b for a, b in zip(row, parts, strict=True)), 0.0), 1.0) for row in BLINDNESS[kind]
    )
    xyz = (
        (0.4124 * red + 0.3576 * green + 0.1805 * blue) / 0.9505,
        0.2126 * red + 0.7152 * green + 0.0722 * blue,
        (0.0193 * red + 0.1192 * green + 0.9505 * blue) / 1.089,
    )
    x, y, z = (each ** (1 / 3) if each > 0.008856 else 7.787 * each + 16 / 116 for each in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(first: str, second: str, kind: str) -> float:
    pairs = zip(seen(first, kind), seen(second, kind), strict=True)
    return sum((a - b) ** 2 for a, b in pairs) ** 0.5


@pytest.mark.parametrize("kind", BLINDNESS)
@pytest.mark.parametrize("mode", ["light", "dark"])
def test_series_can_be_told_apart(kind: str, mode: Mode) -> None:
    series = [colour(f"series-{number}", mode) for number in range(SERIES)]
    closest = min((difference(one, other, kind), one, other) for one, other in itertools.combinations(series, 2))
    assert closest[0] > 20, closest


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_series_stand_out_from_the_paper(mode: Mode) -> None:
    for number in range(SERIES):
        assert contrast(colour(f"series-{number}", mode), colour("paper", mode)) > 3


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_text_is_readable(mode: Mode) -> None:
    for ink, paper in [
        ("ink", "paper"),
        ("soft", "paper"),
        ("soft", "panel"),
        ("accent", "paper"),
        ("accent", "panel"),
        ("wrong", "paper"),
        ("wrong", "panel"),
        ("right", "paper"),
        ("right", "panel"),
        ("ink", "mark"),
        ("wrong", "mark"),
        ("right", "mark"),
        ("ink", "wrong-soft"),
        ("ink", "accent-soft"),
        ("right", "right-soft"),
        ("on-accent", "accent"),
        *(("ink", f"room-{number}") for number in range(6)),
    ]:
        assert contrast(colour(ink, mode), colour(paper, mode)) >= 4.5, (ink, paper)


@pytest.mark.parametrize("mode", ["light", "dark"])
def test_a_heat_map_is_readable_and_its_steps_go_one_way(mode: Mode) -> None:
    shades = [colour(f"heat-{step}", mode) for step in range(HEAT)]
    levels = [luminance(shade) for shade in shades]
    assert levels == sorted(levels, reverse=mode == "light")
    for step, shade in enumerate(shades):
        assert contrast(shade, colour("on-accent" if step >= 7 else "ink", mode)) >= 4, step


def test_variables_and_values() -> None:
    sheet = variables()
    assert sheet.count("--ink:#1f2328;") == 2  # on screen, and in print
    assert sheet.count("--ink:#e2e5e9;") == 2  # where the reader prefers it, and where the page says so
    assert resolve("a { fill: var(--ink); }") == "a { fill: #1f2328; }"
    assert resolve("a { fill: var(--ink); }", "dark") == "a { fill: #e2e5e9; }"
    for values in COLOURS.values():
        assert all(re.fullmatch("#[0-9a-f]{6}", value) for value in values)
