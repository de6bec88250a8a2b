"""Replies judged by hand, in all languages; lists of people, and yes or no."""

import json
from collections import Counter
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storyproof.evaluation.matching import MATCHERS, find_meant, judge
from storyproof.evaluation.matching.careful import meant_carefully
from storyproof.evaluation.matching.matchers import careful, lenient, strict
from storyproof.language.answer_language import language_of, people_sets
from storyproof.stats import wilson_interval
from tests.samples import example

LANGUAGES = ("de", "es", "zh")
WRITTEN = ("before the matcher was read", "after the matcher was read", "after the matcher was finished")
ALL = ("en", *LANGUAGES)
MISSED = {"en": 0, "de": 1, "es": 1, "zh": 3}
WRONGLY = {"en": 0, "de": 0, "es": 0, "zh": 1}  # 不清楚: they do not know, or it is not clear


def judged(language: str) -> list[dict[str, Any]]:
    lines = Path(__file__).with_name(f"judged_replies_{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def asked(row: dict[str, Any]) -> Any:
    return example(question=row["question"], answer=row["answer"], candidates=row["candidates"])


@pytest.mark.parametrize("language", LANGUAGES)
def test_judged_replies_are_enough_and_of_all_kinds(language: str) -> None:
    rows = judged(language)
    assert len(rows) >= 300
    written = Counter(row["prompt"] for row in rows)
    assert written[WRITTEN[0]] * 3 >= 300
    verdicts = Counter(row["verdict"] for row in rows)
    assert min(verdicts[verdict] for verdict in ("right", "wrong", "none")) >= 50


@pytest.mark.parametrize("language", ALL)
def test_the_last_rounds_have_replies_to_all_languages(language: str) -> None:
    rows = judged(language)
    written = Counter(row["prompt"] for row in rows)
    assert written["fifth round, set 1"] + written["fifth round, set 2"] >= 150
    assert written["fifth round, set 1"] >= 70
    assert written["sixth round"] >= 85
    assert written["seventh round"] >= 50
    for row in rows:
        says, answer = row["says"], row["answer"]
        assert row["verdict"] == ("none" if says is None else "right" if says == answer else "wrong")
        assert language_of(row["question"], tuple(row["candidates"])) == language


def errors(rows: list[dict[str, Any]]) -> tuple[int, int, int, int]:
    """Return how many replies name a candidate and are missed, how many name it, are read as another, and are all."""
    missed = wrongly = 0
    for row in rows:
        meant = find_meant(careful, asked(row), row["reply"])
        missed += row["says"] is not None and meant != row["says"]
        wrongly += meant is not None and meant != row["says"]
    return missed, sum(row["says"] is not None for row in rows), wrongly, len(rows)


# docs/matching.md says these figures.
@pytest.mark.parametrize("language", ALL)
def test_careful_reads_what_a_person_reads(language: str) -> None:
    missed, naming, wrongly, replies = errors(judged(language))
    assert (missed, wrongly) == (MISSED[language], WRONGLY[language])
    for share, of in ((missed, naming), (wrongly, replies)):
        assert wilson_interval(share, of).high <= 0.02


@pytest.mark.parametrize("language", ALL)
@pytest.mark.parametrize("name", MATCHERS)
def test_the_verdict_follows_from_what_a_reply_says(language: str, name: str) -> None:
    for row in judged(language):
        right = judge(MATCHERS[name], asked(row), row["reply"]).right
        if name == "careful":
            meant = find_meant(careful, asked(row), row["reply"])
            assert right == (row["answer"] == meant), row
        elif name == "strict" and right:
            assert row["verdict"] == "right", row
        elif name == "lenient" and (row["verdict"] == "right" or judge(careful, asked(row), row["reply"]).right):
            assert right, row


BRUNO = ("Bruno", "Bruno, Elena", "Bruno, Elena, Malik", "Bruno, Malik", "Elena", "Elena, Malik", "Malik", "nobody")
WHO = "Who thinks that Elena believes that the umbrella is in the case?"


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("Bruno, Elena and Malik", "Bruno, Elena, Malik"),
        ("Malik, Elena, Bruno", "Bruno, Elena, Malik"),
        ("Both Malik and Bruno.", "Bruno, Malik"),
        ("Bruno and Malik think that Elena believes that the umbrella is in the case.", "Bruno, Malik"),
        ("Bruno thinks that. Malik does too.", "Bruno, Malik"),
        ("Bruno thinks so, and so does Malik.", "Bruno, Malik"),
        ("Bruno, but not Malik", "Bruno"),
        ("Only Malik, because Bruno had left.", "Malik"),
        ("Everyone except Malik.", "Bruno, Elena"),
        ("All of them.", "Bruno, Elena, Malik"),
        ("Nobody does.", "nobody"),
        ("None of them", "nobody"),
        ("Bruno saw it. So Bruno and Elena.", "Bruno, Elena"),
        ("Answer: Malik, Bruno", "Bruno, Malik"),
        ("- Elena\n- Bruno", "Bruno, Elena"),
        ("Brunos", None),
        ("I cannot tell.", None),
        ("Not Bruno.", None),
        ("Hugo", None),
    ],
)
def test_lists_of_people(reply: str, meant: str | None) -> None:
    row = example(question=WHO, answer="Bruno, Elena, Malik", candidates=list(BRUNO))
    assert find_meant(careful, row, reply) == meant


SAYING = {  # of one person, that they think so, and that they do not
    "de": ("{} glaubt das", "{} glaubt es nicht", "{}: ja", "{}: nein"),
    "es": ("{} lo cree", "{} no lo cree", "{}: sí", "{}: no"),
    "zh": ("{}这么认为", "{}不这么认为", "{}：是", "{}：否"),
}
SAYING_WHO = {
    "de": ("Wer glaubt, dass der Hut im Topf ist?", ("Anna", "Emil", "Ida", "Uwe"), "niemand", ", "),
    "es": ("¿Quién cree que el peine está en la caja?", ("Ana", "Diego", "Luis", "Sara"), "nadie", ", "),
    "zh": ("谁认为地图在柜子里？", ("何飞", "林悦", "郭亮", "黄涛"), "没有人", "、"),
}


@given(st.sampled_from(LANGUAGES), st.booleans(), st.sampled_from((". ", "; ", ", ", "\n")), st.data())
def test_lists_in_clauses(language: str, labels: bool, joint: str, data: st.DataObject) -> None:
    question, people, nobody, between = SAYING_WHO[language]
    subsets = [between.join(each) for size in range(1, 5) for each in combinations(people, size)]
    said = data.draw(st.permutations(people))
    believers = {person for person in said if data.draw(st.booleans())}
    yes, no = SAYING[language][2:] if labels else SAYING[language][:2]
    reply = joint.join((yes if person in believers else no).format(person) for person in said)
    row = example(question=question, answer=nobody, candidates=[*subsets, nobody])
    meant = between.join(person for person in people if person in believers)
    assert find_meant(careful, row, reply) == (meant or nobody), reply


HAT, CAJA, WALLET = ("Korb", "Tasche", "Topf"), ("caja", "cajón", "horno"), ("抽屉", "盒子", "钱包")


@pytest.mark.parametrize(
    ("question", "candidates", "reply", "meant"),
    [
        ("Wo wird Anna den Hut suchen?", HAT, "Nicht im Topf.", None),
        ("Wo wird Anna den Hut suchen?", HAT, "Er ist nicht mehr im Topf", None),
        ("Wo wird Anna den Hut suchen?", HAT, "Im Topf, nicht in der Tasche.", "Topf"),
        ("Wo wird Anna den Hut suchen?", HAT, "Er ist in Wahrheit im Korb. Anna sucht ihn im Topf.", "Topf"),
        ("Wo ist der Hut wirklich?", HAT, "Anna glaubt, er ist im Topf, tatsächlich ist er im Korb.", "Korb"),
        ("Wo ist der Hut wirklich?", HAT, "Er kam aus dem Topf in den Korb.", "Korb"),
        ("Wo war der Hut am Anfang?", HAT, "Jetzt im Korb, am Anfang im Topf.", "Topf"),
        ("¿Dónde buscará Ana el peine?", CAJA, "cajon", "cajón"),
        ("¿Dónde buscará Ana el peine?", CAJA, "Está en la caja, pero Ana lo buscará en el horno.", "horno"),
        ("¿Dónde está realmente el peine?", CAJA, "Ana cree que en la caja, pero está en el horno.", "horno"),
        ("¿Dónde estaba el peine al principio?", CAJA, "Primero en el horno, luego en la caja.", "horno"),
        ("孙浩会去哪里找羽毛？", WALLET, "在钱包里", "钱包"),
        ("孙浩会去哪里找羽毛？", WALLET, "他会去钱包里找", "钱包"),
        ("孙浩会去哪里找羽毛？", WALLET, "羽毛实际上在盒子里，但孙浩会去钱包里找。", "钱包"),
        ("羽毛实际上在哪里？", WALLET, "孙浩以为在钱包里，其实在盒子里。", "盒子"),
        ("孙浩知道羽毛在哪里吗？", ("否", "是"), "知道", "是"),
        ("孙浩知道羽毛在哪里吗？", ("否", "是"), "是的", "是"),
        ("孙浩知道羽毛在哪里吗？", ("否", "是"), "不知道", "否"),
        ("孙浩知道羽毛在哪里吗？", ("否", "是"), "显然是", "是"),
        ("¿Sabe Ana dónde está el peine?", ("no", "sí"), "si", "sí"),
        ("¿Sabe Ana dónde está el peine?", ("no", "sí"), "Lamentablemente no.", "no"),
        ("¿Sabe Ana dónde está el peine?", ("no", "sí"), "Ana sí lo sabe.", "sí"),
        ("Weiß Anna, wo der Hut ist?", ("ja", "nein"), "Leider nein, denn sie war im Keller.", "nein"),
        ("Weiß Anna, wo der Hut ist?", ("ja", "nein"), "Das ist richtig. Deshalb: nein", "nein"),
    ],
)
def test_readings(question: str, candidates: tuple[str, ...], reply: str, meant: str | None) -> None:
    assert (
        find_meant(careful, example(question=question, answer=candidates[0], candidates=[*candidates]), reply) == meant
    )


def test_strict_takes_people_in_any_order_and_nothing_else() -> None:
    for reply, right in (
        ("malik, bruno and elena", True),
        ("Bruno, Elena and Malik.", True),
        ("Bruno and Elena", False),
        ("They are Bruno, Elena and Malik", False),
    ):
        assert strict(reply, "Bruno, Elena, Malik", BRUNO).right is right, reply
    assert not strict("nobody else", "nobody", BRUNO).right


@pytest.mark.parametrize(
    ("reply", "meant"),
    [
        ("Yes.", "yes"),
        ("No, she does not.", "no"),
        ("Ann knows where it is.", "yes"),
        ("She does not know.", "no"),
        ("Ann has no idea where it is", "no"),
        ("She left before. So no.", "no"),
        ("Because she was away, she doesn't know.", "no"),
        ("Yes, because she did not leave.", "yes"),
        ("Yes and no.", None),
        ("I cannot tell.", None),
        ("The key is in the box.", None),
        ("Answer: yes", "yes"),
        ("Yes. Wait, no.", "no"),
    ],
)
def test_yes_and_no(reply: str, meant: str | None) -> None:
    row = example(question="Does Ann know where the key is?", answer="yes", candidates=["no", "yes"])
    assert find_meant(careful, row, reply) == meant


def test_the_language_of_a_row() -> None:
    for question, candidates, language in (
        ("Where will Ann look for the key?", (), "en"),
        ("Was the key in the box?", (), "en"),
        ("Wo wird Anna den Hut suchen?", (), "de"),
        ("Weiß Anna, wo der Hut ist?", (), "de"),
        ("¿Sabe Ana dónde está?", (), "es"),
        ("孙浩会去哪里找羽毛？", (), "zh"),
        ("", ("ja", "nein"), "de"),
        ("", ("no", "sí"), "es"),
        ("", ("否", "是"), "zh"),
        ("", ("no", "yes"), "en"),
    ):
        assert language_of(question, candidates) == language


@pytest.mark.parametrize(
    ("reply", "meant"),
    [("Des Topfes.", "Topf"), ("In den Töpfen.", None), ("In den Truhen.", "Truhe"), ("Im Korbe.", "Korb")],
)
def test_endings(reply: str, meant: str | None) -> None:
    row = example(question="Wo wird Anna den Hut suchen?", answer="Topf", candidates=["Korb", "Topf", "Truhe"])
    assert find_meant(careful, row, reply) == meant


def test_sets_of_people() -> None:
    sets = people_sets(BRUNO)
    assert sets is not None
    assert sets.people == ("Bruno", "Elena", "Malik")
    assert sets.names[frozenset()] == "nobody"
    assert sets.describe() == "one or more of the names Bruno, Elena, Malik, separated by commas; or nobody"
    for language, (_, people, nobody, between) in SAYING_WHO.items():
        subsets = [between.join(each) for size in range(1, 5) for each in combinations(people, size)]
        known = people_sets((*subsets, nobody))
        assert known is not None
        said = known.describe(language)
        assert between.join(sorted(people)) in said
        assert nobody in said
        assert all(said.count(person) == 1 for person in people)  # not every set of them
    for names in (("box", "jar"), ("yes", "no"), (), ("box", "box, jar")):
        assert people_sets(names) is None, names


ROWS = [row for language in LANGUAGES for row in judged(language)]
PIECES = sorted({word for row in ROWS for word in row["reply"].split()} | {"not", "the", "so", "and", ",", ".", "\n"})


@given(
    st.sampled_from(ROWS),
    st.one_of(
        st.sampled_from([row["reply"] for row in ROWS]), st.lists(st.sampled_from(PIECES), max_size=8).map(" ".join)
    ),
    st.data(),
)
def test_lenient_accepts_what_careful_accepts(row: dict[str, Any], reply: str, data: st.DataObject) -> None:
    answer = data.draw(st.sampled_from(row["candidates"]))
    asked_row = example(question=row["question"], answer=answer, candidates=row["candidates"])
    if judge(careful, asked_row, reply).right:
        assert judge(lenient, asked_row, reply).right
    if careful(reply, answer, row["candidates"], row["question"]).right:
        assert lenient(reply, answer, row["candidates"], row["question"]).right


BELIEF_OF_BELIEF = {
    "de": "Wo glaubt Vera, dass Karl den Hut sucht?",
    "es": "¿Dónde piensa Paula que Diego buscará el peine?",
    "zh": "林悦认为何飞会去哪里找地图？",
}
REALITY = {"de": "Wo ist der Hut wirklich?", "es": "¿Dónde está realmente el peine?", "zh": "地图实际上在哪里？"}


@pytest.mark.parametrize(
    ("question", "reply", "meant"),
    [
        (BELIEF_OF_BELIEF["de"], "Vera selbst sucht im Topf, meint aber, dass Karl im Korb sucht.", "Korb"),
        (BELIEF_OF_BELIEF["es"], "Paula misma irá al horno, pero cree que Diego buscará en la caja.", "caja"),
        (BELIEF_OF_BELIEF["zh"], "林悦自己会去抽屉找，但她觉得何飞会去盒子里找。", "盒子"),
        (REALITY["de"], "Topf → Korb → Tasche", "Tasche"),
        (REALITY["es"], "El peine: horno -> caja", "caja"),
        (REALITY["zh"], "路线：钱包→盒子→抽屉", "抽屉"),
        ("Wo war der Hut am Anfang?", "Topf → Korb → Tasche", "Topf"),
        ("Wo wird Karl den Hut suchen?", "Karl sucht erst im Korb und vielleicht später in der Tasche.", "Korb"),
        ("¿Dónde buscará Diego el peine?", "Primero en la caja; si no está, quizás en el horno.", "caja"),
        ("何飞会去哪里找地图？", "何飞会先找钱包，如果没有，可能再找抽屉。", "钱包"),
        (REALITY["de"], "Antwort: Karl hat den Hut aus der Tasche in den Topf gelegt.", "Topf"),
        ("Weiß Karl, wo der Hut ist?", "Dazu haben wir leider keine Angaben.", None),
        ("¿Sabe Diego dónde está el peine?", "No tengo datos.", None),
        ("Weiß Karl, wo der Hut ist?", "Er hat eine falsche Meinung darüber.", "nein"),
        ("Weiß Karl, wo der Hut ist?", "Nicht mehr.", "nein"),
        ("¿Sabe Diego dónde está el peine?", "Diego tiene una creencia falsa sobre eso.", "no"),
        ("¿Sabe Diego dónde está el peine?", "Diego tiene idea de dónde está.", "sí"),
        (
            "Was würde Karl auf die Frage antworten, wo der Hut ist?",
            "Karl vermutet den Topf, würde aber den Korb nennen.",
            "Korb",
        ),
    ],
)
def test_what_is_said_of_several_places(question: str, reply: str, meant: str | None) -> None:
    language = language_of(question)
    known = {"de": HAT, "es": CAJA, "zh": WALLET}[language]
    if question.startswith(("Weiß", "¿Sabe")):
        known = ("ja", "nein") if language == "de" else ("no", "sí")
    assert find_meant(careful, example(question=question, answer=known[0], candidates=list(known)), reply) == meant


@pytest.mark.parametrize(
    ("language", "reply"),
    [
        ("de", "Uwe glaubt, dass der Hut auf dem Tisch ist."),
        ("es", "Sara cree que el peine está debajo de la mesa."),
        ("zh", "黄涛认为地图在桌子上。"),
    ],
)
def test_who_thinks_that_it_is_at_another_place_is_not_named(language: str, reply: str) -> None:
    question, people, nobody, between = SAYING_WHO[language]
    subsets = [between.join(each) for size in range(1, 5) for each in combinations(people, size)]
    assert find_meant(careful, example(question=question, answer=nobody, candidates=[*subsets, nobody]), reply) is None


@pytest.mark.parametrize(
    ("reply", "meant"),
    [("all in all I would say no", None), ("in all I would say no", "no"), ("rather no", "no"), ("sadly no yes", None)],
)
def test_a_short_clause_that_ends_in_yes_or_no_says_it(reply: str, meant: str | None) -> None:
    row = example(question="Does Ada know where the key is?", answer="yes", candidates=["no", "yes"])
    assert find_meant(careful, row, reply) == meant


@pytest.mark.parametrize(
    ("question", "candidates", "reply"),
    [
        ("Wo ist der Schlüssel?", ["Topf", "Korb"], "Nicht im Topf."),
        ("¿Dónde está la llave?", ["cesta", "olla"], "No está en la cesta."),
        ("钥匙在哪里？", ["罐子", "篮子"], "不在罐子里。"),
    ],
)
def test_the_only_place_that_is_named_may_be_denied(question: str, candidates: list[str], reply: str) -> None:
    assert meant_carefully(reply, candidates[0], candidates, question) is None


def test_spaces_within_chinese_words_do_not_matter() -> None:
    asked = example(question="钥匙在哪里？", answer="罐子", candidates=["罐子", "篮子"])
    assert find_meant(careful, asked, "在 罐 子 里。") == "罐子"


NESTED = "Wo glaubt Ute, dass Max glaubt, dass Ella den Hut sucht?"


@pytest.mark.parametrize(
    ("question", "reply", "meant"),
    [
        (NESTED, "Utes Meinung nach denkt Max, dass Ella im Topf nachsieht.", "Topf"),
        (NESTED, "Das ist klar. Nach Utes Meinung denkt Max, dass Ella im Topf nachsieht.", "Topf"),
        ("Wo wird Ute den Hut suchen?", "Anna sucht im Korb. Was Ute denkt, weiß niemand.", None),
        ("Wo wird Ute den Hut suchen?", "Was Ute denkt, weiß niemand. Anna sucht im Korb.", None),
        ("Wo wird Ute den Hut suchen?", "Ute sucht im Topf, Anna sucht im Korb.", "Topf"),
        ("Wo wird Ute den Hut suchen?", "Beide suchen im Topf. Anna sucht dann im Korb.", "Topf"),
        ("Wo wird Ute den Hut suchen?", "Ute sucht, meint Max, im Topf.", "Topf"),
        ("Wo wird Ute den Hut suchen?", "Utes Suche beginnt, so glaubt Max, im Topf.", "Topf"),
    ],
)
def test_what_others_think_does_not_count(question: str, reply: str, meant: str | None) -> None:
    assert find_meant(careful, example(question=question, answer="Topf", candidates=[*HAT]), reply) == meant


@pytest.mark.parametrize(
    ("question", "candidates", "reply", "meant"),
    [
        ("Does Ada know where the key is?", ("no", "yes"), "Yes.\nQuestion: Does Bo know it?\nNo.", "yes"),
        ("Weiß Ada, wo der Hut ist?", ("ja", "nein"), "Ja.\nFrage: Weiß Bo es?\nNein.", "ja"),
        (WHO, BRUNO, "Bruno.\nQuestion: Who else? Malik", "Bruno"),
    ],
)
def test_questions_of_the_model_end_the_reply(
    question: str, candidates: tuple[str, ...], reply: str, meant: str
) -> None:
    assert find_meant(careful, example(question=question, answer=meant, candidates=[*candidates]), reply) == meant


ASKED_TO_SAY = "Was würde Karl auf die Frage antworten, wo der Hut ist?"


@pytest.mark.parametrize(
    ("question", "reply", "meant"),
    [
        (ASKED_TO_SAY, "Karl würde den Korb nennen, obwohl er denkt, er sei im Topf.", "Korb"),
        (ASKED_TO_SAY, "Karl würde Korb, nicht Topf nennen, obwohl er denkt, er sei in der Tasche.", "Korb"),
        ("¿Dónde creen en común Ana y Luis que está el peine?", "Ellos creen que está en la caja.", "caja"),
        ("林悦和何飞共同认为地图在哪里？", "她们认为在盒子里。", "盒子"),
        ("林悦和何飞共同认为地图在哪里？", "双方认为在盒子里。", "盒子"),
        (REALITY["zh"], "在被移到抽屉之前，地图在盒子里。", "抽屉"),
        ("地图一开始在哪里？", "在被移到抽屉之前，地图在盒子里。", "盒子"),
        ("Wo war der Hut am Anfang?", "Karl hat den Hut aus der Tasche in den Topf gelegt.", "Tasche"),
    ],
)
def test_what_is_said_in_common_and_at_other_times(question: str, reply: str, meant: str) -> None:
    known = {"de": HAT, "es": CAJA, "zh": WALLET}[language_of(question)]
    assert find_meant(careful, example(question=question, answer=meant, candidates=list(known)), reply) == meant


@pytest.mark.parametrize(
    ("question", "candidates", "reply", "meant"),
    [
        ("Wo wird Lena den Hut suchen?", HAT, "Jetzt im Korb. Lena weiß das aber nicht und sucht im Topf.", "Topf"),
        ("Wo wird Lena den Hut suchen?", HAT, "Jetzt im Korb. Mira weiß nichts davon und sucht im Topf.", "Korb"),
        ("¿Dónde buscará Ana el peine?", CAJA, "Está en el cajón. Ana no lo sabe y lo busca en la caja.", "caja"),
        ("Weiß Lena, wo der Hut ist?", ("ja", "nein"), "Sie glaubt es zu wissen, liegt aber falsch.", "nein"),
        ("¿Sabe Ana dónde está el peine?", ("no", "sí"), "Cree saberlo, pero se equivoca.", "no"),
        ("孙浩知道羽毛在哪里吗？", ("否", "是"), "他以为自己知道，但他错了。", "否"),
        ("Does Ada know where the key is?", ("no", "yes"), "She thinks she knows, but she is wrong.", "no"),
        ("Weiß Lena, wo der Hut ist?", ("ja", "nein"), "Lena weiß es, Max irrt sich.", "ja"),
    ],
)
def test_who_does_not_know_it(question: str, candidates: tuple[str, ...], reply: str, meant: str | None) -> None:
    row = example(question=question, answer=candidates[0], candidates=[*candidates])
    assert find_meant(careful, row, reply) == meant
