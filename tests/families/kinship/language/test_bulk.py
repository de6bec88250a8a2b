import re

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.language.checks import _PATTERNS, SUSPECT, may_clash
from storyproof.families.kinship.language.phrases import find_phrase, have_phrases
from tests.families.kinship.language.texts import BAD, GOOD, collection
from tests.groups import try_examples

# Classes as they are after names are resolved; quotations and titles are left to `tokens`.
ALPHABET = "NKLZM@[OPu10Uj>^!hrHesmgGty5'&|biavxXBckTWSYzIJ~AlQ`odD2<pnfVqRE%738496+*$/=w]F,;:._\n"
CONTEXT = st.text(ALPHABET, max_size=6)


def is_suspect(kinds: str) -> bool:
    return bool(pc.match_substring_regex(pa.scalar(f"{kinds}\n"), pattern=SUSPECT).as_py())


@pytest.mark.parametrize("number", range(len(_PATTERNS)))
@try_examples(60)
@given(data=st.data())
def test_what_a_pattern_of_the_checks_finds_is_suspect(number: int, data: st.DataObject) -> None:
    _, pattern, _ = _PATTERNS[number]
    part = data.draw(st.from_regex(pattern.pattern, fullmatch=True, alphabet=st.sampled_from(ALPHABET)))
    kinds = data.draw(CONTEXT) + part + data.draw(CONTEXT)
    if pattern.search(kinds):
        assert is_suspect(kinds)


@try_examples(400)
@given(st.text(ALPHABET, max_size=14))
def test_what_may_clash_is_suspect(kinds: str) -> None:
    if may_clash(kinds):
        assert is_suspect(kinds)


def test_both_engines_find_the_same_phrases() -> None:
    texts = [each["text"] for name in (*BAD, *GOOD) for each in collection(name)]
    found = [find_phrase(text) for text in texts]
    assert have_phrases(pa.array(texts)).tolist() == [phrase is not None for phrase in found]
    assert sum(phrase is not None for phrase in found) > 60
    for text, phrase in zip(texts, found, strict=True):
        if phrase:
            assert re.match(re.escape(phrase[1]), text[phrase[0] :], re.IGNORECASE)
