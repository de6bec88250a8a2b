"""The header that all pages share."""

import re

from storyproof.reports.header import PLACES, page_header
from storyproof.reports.page import build_page


def test_a_served_page_links_to_all_places() -> None:
    header = page_header("/runs", served=True)
    assert re.findall(r'href="(/[a-z]*)"', header) == ["/", *PLACES]
    assert re.findall(r'href="([^"]*)" aria-current="page"', header) == ["/runs"]


def test_a_page_in_a_file_links_to_nothing_outside_it() -> None:
    header = page_header("<Audit>")
    assert set(re.findall(r'href="([^"]*)"', header)) == {"#", "#content"}
    assert "&lt;Audit&gt;" in header


def test_the_header_stands_above_the_page() -> None:
    page = build_page("A page", "<main>text</main>", header=page_header("Audit"))
    assert page.index("site-header") < page.index('id="content"') < page.index("<main>")
    assert "site-header" not in build_page("A page", "").partition("</head>")[2]
