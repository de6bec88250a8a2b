import base64
import hashlib
import json
import re

import pytest

from storyproof.reports.page import build_page, build_table, content_policy, data_text, dump_json, theme

TEXT = "</script><script>hacked=1</script><!--<script>\u2028\u2029&lt;\ud800"


def hash_of(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def policy_of(page: str) -> dict[str, str]:
    (found,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    return dict(part.split(" ", 1) for part in found.split("; "))


def test_the_policy_allows_the_scripts_and_styles_of_the_page_only() -> None:
    page = build_page("A page", "<p>text</p>", scripts=["one();", "two();"], styles=["p { color: red; }"])
    policy = policy_of(page)
    assert policy["default-src"] == "'none'"
    assert policy["script-src"] == f"{hash_of('one();')} {hash_of('two();')}"
    assert policy["style-src"] == f"{hash_of(theme())} {hash_of('p { color: red; }')}"
    assert policy["connect-src"] == "'none'"
    for script in re.findall(r"<script>(.*?)</script>", page, re.S):
        assert hash_of(script) in policy["script-src"]
    for style in re.findall(r"<style>(.*?)</style>", page, re.S):
        assert hash_of(style) in policy["style-src"]
    assert "unsafe" not in str(policy)


def test_a_page_from_a_server_may_ask_it() -> None:
    assert policy_of(build_page("A page", "", connect=True))["connect-src"] == "'self'"
    assert "script-src 'none'" in content_policy([], [])


def test_data_come_back_and_end_no_element() -> None:
    page = build_page(TEXT, "", data={"data": {TEXT: [TEXT, 1, None]}})
    (held,) = re.findall(r'<script type="application/json" id="data">(.*?)</script>', page, re.S)
    assert json.loads(held) == {TEXT: [TEXT, 1, None]}
    assert page.count("<script") == page.count("</script") == 1
    assert "hacked=1</script>" not in page
    page.encode()


@pytest.mark.parametrize("text", ["<", "&", ">", "\u2028", "\ud800"])
def test_json_has_nothing_that_a_page_reads_otherwise(text: str) -> None:
    assert text not in dump_json([text])
    assert json.loads(dump_json([text])) == [text]


def test_text_from_data_is_escaped() -> None:
    assert data_text("<b> & co") == '<span class="data">&lt;b&gt; &amp; co</span>'


def test_columns_of_figures_are_aligned() -> None:
    table = build_table(["file", "found", "share"], [["a", "1,200", "3.5%"], ["b", "", "−0.1 to 3"]], label="Counts")
    assert table.count('<th scope="col" class="number">') == 2
    assert table.count('<td class="number">') == 4
    assert 'aria-label="Counts"' in table
