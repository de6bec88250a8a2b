"""Several ways to ask each question, in each language."""

import pytest

from storyproof.families.belief.questions import Ask
from storyproof.families.belief.read_text import read_question

FORMS = [
    (Ask.REALITY, (), "Where can the key be found?", "Where is the key located?", "What is the key in?"),
    (Ask.REALITY, (), "Wo ist der Schlüssel in Wirklichkeit?", "Wo ist jetzt der Schlüssel?"),
    (Ask.REALITY, (), "¿Dónde está la llave al final?", "¿Dónde está la llave de verdad?"),
    (Ask.REALITY, (), "现在钥匙在哪里？", "钥匙其实在哪里？"),
    (Ask.MEMORY, (), "In the beginning, where was the key?", "Where was the key to begin with?"),
    (Ask.MEMORY, (), "Wo war der Schlüssel anfangs?", "Wo war am Anfang der Schlüssel?"),
    (Ask.MEMORY, (), "¿Dónde estaba la llave al inicio?", "¿Dónde estaba al principio la llave?"),
    (Ask.MEMORY, (), "钥匙起初在哪里？", "一开始钥匙在哪儿？"),
    (Ask.BELIEF, ("Ann",), "According to Ann, where is the key?", "In which container will Ann look for the key?"),
    (Ask.BELIEF, ("Ann",), "Where does Ann expect the key to be?", "where would Ann look for her key"),
    (Ask.BELIEF, ("Anna",), "Wo denkt Anna, dass der Schlüssel ist?", "Wo vermutet Anna den Schlüssel?"),
    (Ask.BELIEF, ("Ana",), "¿Dónde buscará primero Ana la llave?", "¿Según Ana, dónde está la llave?"),
    (Ask.BELIEF, ("王芳",), "王芳会在哪里寻找钥匙？", "王芳以为钥匙在哪里？"),
    (Ask.BELIEF, ("Ann", "Bob"), "Where would Ann think that Bob will look for the key first?"),
    (Ask.BELIEF, ("Anna", "Bernd"), "Wo glaubt Anna, dass Bernd den Schlüssel suchen würde?"),
    (Ask.BELIEF, ("Ana", "Luis"), "¿Dónde piensa Ana que Luis buscaría la llave?"),
    (Ask.BELIEF, ("王芳", "王强"), "王芳认为王强会在哪里寻找钥匙？"),
    (Ask.SAYS, ("Ann",), "If asked, where would Ann say the key is?"),
    (Ask.SAYS, ("Anna",), "Was würde Anna sagen, wo der Schlüssel ist?"),
    (Ask.SAYS, ("Ana",), "¿Dónde diría Ana que está la llave?"),
    (Ask.SAYS, ("王芳",), "王芳会说钥匙在哪里？"),
    (Ask.KNOWS_WHERE, ("Ann",), "Does Ann know the location of the key?"),
    (Ask.KNOWS_WHERE, ("Anna",), "Weiß Anna wirklich, wo der Schlüssel ist?"),
    (Ask.KNOWS_WHERE, ("Ana",), "¿Sabe realmente Ana dónde está la llave?"),
    (Ask.KNOWS_WHERE, ("王芳",), "王芳知不知道钥匙在哪里？"),
]
ASKED = [(ask, chain, question) for ask, chain, *questions in FORMS for question in questions]


@pytest.mark.parametrize(("ask", "chain", "question"), ASKED)
def test_a_question_is_read(ask: Ask, chain: tuple[str, ...], question: str) -> None:
    found = read_question(question)
    assert (found.ask, found.chain) == (ask, chain)
    assert found.thing in ("key", "Schlüssel", "llave", "钥匙")


def test_spaces_around_a_hyphen_are_no_part_of_a_name() -> None:
    assert read_question("Where will Ann look for the t - shirt ?").thing == "t-shirt"
