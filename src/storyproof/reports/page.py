"""A self-contained page of HTML: one theme, no requests, and a policy that runs nothing but the page's own scripts.

Text from data is never markup. What a page writes itself must be escaped (`safe`, `data_text`); everything else is JSON
that the page's script shows as text, or a picture whose texts are escaped.
"""

from __future__ import annotations

import gzip
import json
import re
from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache, lru_cache
from hashlib import sha256
from importlib.resources import files

from storyproof.pictures.colours import variables
from storyproof.pictures.svg import STYLE, element, safe

_UNSAFE_IN_JSON = re.compile("[<>&\u2028\u2029\ud800-\udfff]")
_FIGURES = re.compile(r"(?:<[^>]*>|&lt;|[-−+±–\d,.%e() tof])*")


def build_page(
    title: str,
    body: str,
    *,
    data: Mapping[str, object] | None = None,
    pictures: Mapping[str, str] | None = None,
    packed: Mapping[str, object] | None = None,
    scripts: Sequence[str] = (),
    styles: Sequence[str] = (),
    connect: bool = False,
    language: str = "en",
    forms: str = "",
    referrer: str = "no-referrer",
    header: str = "",
) -> str:
    """Return a page that needs nothing but itself.

    Args:
        title: What it is about; plain text.
        body: What stands in its body, as HTML; text in it must be escaped already.
        data: Values that scripts read, by the id of the element that holds them: `JSON.parse(element.textContent)`.
        pictures: SVG that scripts draw when it is needed, by the id of the element that holds it.
        packed: Large values, compressed, by the id of the element that holds them: `page.unpack(id)` in page.js returns
            a promise of the value. Thousands of pictures take a tenth of their size.
        scripts: Scripts, run in this order when everything else is there.
        styles: Style sheets, after the theme.
        connect: Whether scripts may send requests to where the page came from; pages in files need none.
        language: The language of its text, as in `lang`.
        forms: Where forms may be sent, as in `form-action`; by default nowhere.
        referrer: To whom links and forms say where they come from; by default to nobody.
        header: What stands above the page over its whole width, as HTML; see `page_header`.
    """
    sheets = [theme(), *styles]
    policy = content_policy(scripts, sheets, connect=connect, forms=forms)
    held = [
        *(element("script", dump_json(each), type="application/json", id=name) for name, each in (data or {}).items()),
        *(element("script", svg, type="image/svg+xml", id=name) for name, svg in (pictures or {}).items()),
        *(element("script", _pack(each), type="application/gzip", id=name) for name, each in (packed or {}).items()),
    ]
    return "\n".join(
        [
            "<!doctype html>",
            f'<html lang="{safe(language)}">',
            "<head>",
            '<meta charset="utf-8">',
            f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
            '<meta name="viewport" content="width=device-width, initial-scale=1">',
            f'<meta name="referrer" content="{safe(referrer)}">',
            '<meta name="color-scheme" content="light dark">',
            element("title", safe(title)),
            *(f"<style>{sheet}</style>" for sheet in sheets),
            "</head>",
            "<body>",
            *([header] if header else []),
            '<div class="page" id="content" tabindex="-1">',
            body,
            "</div>",
            *held,
            *(f"<script>{script}</script>" for script in scripts),
            "</body>",
            "</html>",
            "",
        ]
    )


def content_policy(scripts: Sequence[str], styles: Sequence[str], *, connect: bool = False, forms: str = "") -> str:
    """Return a content security policy that allows these scripts and style sheets and nothing else.

    Args:
        scripts: The texts of the scripts.
        styles: The texts of the style sheets.
        connect: Whether scripts may send requests to where the page came from.
        forms: Where forms may be sent; by default nowhere.
    """
    allowed = {
        "default-src": "'none'",
        "script-src": " ".join(map(_hash, scripts)) or "'none'",
        "style-src": " ".join(map(_hash, styles)) or "'none'",
        "connect-src": "'self'" if connect else "'none'",
        "base-uri": "'none'",
        "form-action": forms or "'none'",
    }
    return "; ".join(f"{name} {sources}" for name, sources in allowed.items())


@cache
def theme() -> str:
    """Return the style sheet that all pages share: colours, text, tables, forms, pictures and charts."""
    return variables() + read_asset("storyproof.reports", "theme.css") + STYLE


def read_asset(package: str, name: str) -> str:
    """Read a style sheet, script or template that is part of a package."""
    return files(package).joinpath(name).read_text("utf-8")


@lru_cache(maxsize=64)  # a server sends the same scripts and styles with every page
def _hash(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def dump_json(value: object) -> str:
    """Return JSON that can be part of a page: nothing in it ends the element that it is in."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    return _UNSAFE_IN_JSON.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def _pack(value: object) -> str:
    """Return a value as compressed JSON in letters; equal values have equal bytes."""
    return b64encode(gzip.compress(dump_json(value).encode(), mtime=0)).decode()


def data_text(text: str) -> str:
    """Return a text from data as an element that keeps its spaces and does not affect what stands around it."""
    return element("span", safe(text), class_="data")


def build_table(heads: Sequence[str], rows: Sequence[Sequence[str]], *, label: str, style: str = "") -> str:
    """Return a table that scrolls sideways where it does not fit; columns of figures are right-aligned.

    Args:
        heads: What stands above the columns; escaped already.
        rows: Cells, escaped already; the first of a row is its heading.
        label: What the table shows, for screen readers; plain text.
        style: Classes of the table: `full` for the whole width of the page.
    """
    columns = [[row[place] for row in rows] for place in range(len(heads))]
    classes = ["number" if all(map(_FIGURES.fullmatch, cells)) else "" for cells in columns]
    head = "".join(element("th", text, scope="col", class_=each) for text, each in zip(heads, classes, strict=True))
    body = ""
    for first, *rest in rows:
        cells = "".join(element("td", text or " ", class_=each) for text, each in zip(rest, classes[1:], strict=True))
        body += element("tr", element("th", first or " ", scope="row", class_=classes[0]) + cells)
    table = element("table", f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>", class_=style)
    return element("div", table, class_="scroll", tabindex="0", role="region", aria_label=label)
