import re

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.families.kinship.language.bulk import _CLOSER, _silence, _simplify
from storyproof.families.kinship.language.checks import _PATTERNS, SUSPECT, may_clash
from storyproof.families.kinship.language.phrases import find_phrase, have_phrases
from storyproof.families.kinship.language.tokens import LINE, silence_quotations, simplify
from tests.families.kinship.language.texts import BAD, GOOD, collection
from tests.groups import try_examples

# Classes as they are after names are resolved; titles are left to `tokens`.
ALPHABET = "\"NKLZM@[OPu10Uj>^!hrHesmgGty5'&|biavxXBckTWSYzIJ~AlQ`odD2<pnfVqRE%738496+*$/=w]F,;:._\n"
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


@try_examples(600)
@given(st.lists(st.one_of(st.sampled_from(["5v", "p", "<", "Q", "T", "c", "w", "N", ".", "\n"]), CONTEXT), max_size=12))
def test_classes_are_simplified_alike_unless_they_have_to_be_looked_at_closer(parts: list[str]) -> None:
    kinds = "".join(parts).replace("|", "i").replace("\\", "") + "\n"
    if re.search(_CLOSER, kinds) or any(each in kinds for each in "[]{}"):
        return
    simplified = np.frombuffer(f"\n{kinds}".encode(), np.uint8).copy()
    _simplify(simplified)
    assert simplified[1:].tobytes().decode() == simplify(kinds)


@try_examples(400)
@given(st.lists(st.text('""""www,.K?' + LINE, max_size=12), min_size=1, max_size=4))
def test_quotations_are_silenced_as_one_by_one(texts: list[str]) -> None:
    kinds = np.frombuffer("".join(f"{text}{LINE}" for text in texts).encode(), np.uint8).copy()
    bounds = np.cumsum([0, *(len(text) + 1 for text in texts)])
    others = _silence(kinds, bounds)
    for number, text in enumerate(texts):
        found = kinds.tobytes().decode()[bounds[number] : bounds[number + 1] - 1]
        quoted = text.split('"')[1::2]
        assert others[number] == (text.count('"') % 2 == 1 or any("K" in each or LINE in each for each in quoted))
        if not others[number]:
            assert found == silence_quotations(text)
