"""The colours of pages, pictures and charts, for light and dark screens: one theme for all of them.

Style sheets use them as variables (`var(--ink)`); files that other programs open get the values themselves, because few
programs besides browsers know variables. Series of charts can be told apart with the common kinds of colour blindness,
and what is wrong is also marked by words or dashes, never by colour alone.
"""

from __future__ import annotations

import re
from typing import Literal

Mode = Literal["light", "dark"]

SERIES = 8  # colours for the lines and bars of charts
HEAT = 10  # steps of a heat map, from nothing to everything

_VARIABLE = re.compile(r"var\(--([a-z0-9-]+)\)")

# name: on a light screen and in print, on a dark screen
COLOURS: dict[str, tuple[str, str]] = {
    "paper": ("#ffffff", "#15181c"),
    "panel": ("#f6f7f9", "#1d2126"),
    "ink": ("#1f2328", "#e2e5e9"),
    "soft": ("#57606a", "#a0a8b2"),
    "line": ("#d5d9de", "#363c44"),
    "rule": ("#8a8f98", "#7d8590"),
    "faint": ("#eceef1", "#2a2e35"),
    "accent": ("#1d5fa8", "#7db4f0"),
    "on-accent": ("#fffffe", "#10151c"),
    "accent-soft": ("#dbe9f8", "#1d3450"),
    "wrong": ("#b3261e", "#ff9a90"),
    "wrong-soft": ("#fbe3e0", "#4a2320"),
    "right": ("#1c6b3c", "#86d3a3"),
    "right-soft": ("#dcf1e3", "#1b3a27"),
    "mark": ("#fff3c4", "#40371a"),
    "mark-edge": ("#c08a00", "#e0b040"),
    "room-0": ("#d8e6f3", "#24384d"),
    "room-1": ("#e3ecd5", "#323f22"),
    "room-2": ("#efe1f0", "#42304a"),
    "room-3": ("#f6e4d2", "#4a3826"),
    "room-4": ("#d5ecea", "#1f4242"),
    "room-5": ("#e8e4d8", "#3d3a2e"),
    # Chosen by a search for the largest difference under four kinds of colour vision; tests measure it.
    "series-0": ("#1b56cd", "#458dd0"),
    "series-1": ("#b9421c", "#e76b22"),
    "series-2": ("#008155", "#24e07e"),
    "series-3": ("#cb5195", "#e594b7"),
    "series-4": ("#c38a00", "#ffde4c"),
    "series-5": ("#4c4f57", "#eaffe4"),
    "series-6": ("#379aec", "#8354f3"),
    "series-7": ("#742217", "#a95745"),
    "heat-0": ("#f5f8fb", "#1b2027"),
    "heat-1": ("#e6eff7", "#1d2733"),
    "heat-2": ("#d5e4f1", "#1f3040"),
    "heat-3": ("#c0d8eb", "#213a4f"),
    "heat-4": ("#a6c9e3", "#24455f"),
    "heat-5": ("#87b7d9", "#285272"),
    "heat-6": ("#649fcb", "#306389"),
    "heat-7": ("#3a7bb0", "#4d86b0"),
    "heat-8": ("#24659c", "#74a7cd"),
    "heat-9": ("#124a7d", "#a6cfec"),
}


def colour(name: str, mode: Mode = "light") -> str:
    """Return the value of a colour."""
    return COLOURS[name][mode == "dark"]


def variables() -> str:
    """Return the style sheet that defines all colours as variables.

    A page follows the reader's choice of light or dark unless its root says otherwise (`data-theme`). Paper is light.
    """
    light, dark = ("".join(f"--{name}:{colour(name, mode)};" for name in COLOURS) for mode in ("light", "dark"))
    return (
        f":root{{color-scheme:light dark;{light}}}\n"
        f"@media (prefers-color-scheme: dark){{:root:not([data-theme=light]){{{dark}}}}}\n"
        f":root[data-theme=light]{{color-scheme:light}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root:root:root{{color-scheme:light;{light}}}}}\n"
    )


def resolve(text: str, mode: Mode = "light") -> str:
    """Replace the variables in a style sheet or picture by their values."""
    return _VARIABLE.sub(lambda match: colour(match[1], mode), text)
