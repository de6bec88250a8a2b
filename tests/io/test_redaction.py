"""Secrets are hidden in every form in which a server may repeat them, and nothing else is."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.io.redaction import HIDDEN, Secrets
from tests.groups import try_examples

KEY = "sk-proj-Abc_90xyz-QrStUv.wx12"
FORMS = {
    "plain": KEY,
    "upper case": KEY.upper(),
    "spaced": " ".join(KEY),
    "in two lines": f"{KEY[:10]}\n{KEY[10:]}",
    "percent-encoded": "".join(f"%{ord(each):02x}" for each in KEY),
    "percent-encoded twice": "".join(f"%25{ord(each):02X}" for each in KEY),
    "JSON escapes": "".join(f"\\u{ord(each):04x}" for each in KEY),
    "JSON escapes in JSON": json.dumps("".join(f"\\u{ord(each):04x}" for each in KEY)).strip('"'),
    "Python escapes": "".join(f"\\x{ord(each):02x}" for each in KEY),
    "HTML": "".join(f"&#{ord(each)};" for each in KEY),
    "HTML, hexadecimal": "".join(f"&#x{ord(each):x};" for each in KEY),
    "UTF-16": KEY.encode("utf-16-le").decode("latin-1"),
    "without punctuation": "skprojAbc90xyzQrStUvwx12",
    "long escapes of C": "".join(f"\\U{ord(each):08x}" for each in KEY),
    "escapes in braces": "".join(f"\\u{{{ord(each):x}}}" for each in KEY),
    "octal escapes": "".join(f"\\{ord(each):03o}" for each in KEY),
    "ends of lines as escapes": "\\n".join(KEY),
    "JSON escapes of full width": "".join(f"\\u{ord(each) + 0xFEE0:04x}" for each in KEY),
    "full width": "".join(chr(ord(each) + 0xFEE0) for each in KEY),
    "reversed": KEY[::-1],
    "hexadecimal": KEY.encode().hex(),
    "spaced hexadecimal": " ".join(f"{each:02X}" for each in KEY.encode()),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_hidden(form: str) -> None:
    hidden = Secrets([KEY]).hide(f"the key {FORMS[form]} is wrong")
    assert hidden.rstrip("\0").replace("\0", "") == f"the key {HIDDEN} is wrong"


@pytest.mark.parametrize("before", ["", "a", "ab", "Bearer ", "user:"])
@pytest.mark.parametrize("after", ["", "c", "cd"])
@pytest.mark.parametrize("encode", [b64encode, urlsafe_b64encode])
def test_base64_is_hidden_wherever_the_secret_stands_in_it(
    before: str, after: str, encode: Callable[[bytes], bytes]
) -> None:
    coded = encode(f"{before}{KEY}{after}".encode()).decode()
    hidden = Secrets([KEY]).hide(f"({coded})")
    assert HIDDEN in hidden
    assert not any(coded[at : at + 8] in hidden for at in range(len(before) * 4 // 3 + 1, len(coded) - 12))


@given(st.integers(0, len(KEY)), st.integers(0, len(KEY)))
@try_examples(200)
def test_parts_are_hidden(start: int, end: int) -> None:
    part = KEY[start:end]
    hidden = Secrets([KEY]).hide(f"((( {part} )))")
    if sum(map(str.isalnum, part)) >= 6:
        assert hidden.strip("( )._-") == HIDDEN


@given(st.text(st.sampled_from("sk-proj_Abc90 %25\\u&#;xyz"), max_size=200), st.integers(0, 200))
@try_examples(200)
def test_no_part_is_left(text: str, at: int) -> None:
    hidden = Secrets([KEY]).hide(text[:at] + KEY + text[at:])
    assert not any(KEY[place : place + 8] in hidden for place in range(len(KEY) - 7))


@given(st.text(max_size=100))
def test_other_text_stays(text: str) -> None:
    assert Secrets(["qzxjkvwqzxjkvw"]).hide(text) == text


def test_short_ones_are_words() -> None:
    assert Secrets(["EMPTY", "", None]).hide("EMPTY") == "EMPTY"
    assert Secrets(["......."]).hide("a ....... b") == f"a {HIDDEN} b"


def test_long_texts() -> None:
    secrets = Secrets([KEY])
    long = "x" * 300_000
    assert secrets.hide(long) == long
    assert secrets.hide(f"{long}{' '.join(KEY)}") == HIDDEN
    assert secrets.hide(f"{long}sk-") == f"{long}sk-"


def test_replies_may_have_words() -> None:
    secrets = Secrets(["my-garden-key-77"])
    assert secrets.hide("in the garden", 8) == "in the garden"
    assert secrets.hide("in the garden-key-77", 8) == f"in the {HIDDEN}"
