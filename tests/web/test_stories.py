"""Stories through the explorer's application: made, edited, asked about, stepped through and put to models."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from storyproof.catalog import names
from storyproof.families.family import load_family
from storyproof.solvers.llm.options import ModelOptions
from storyproof.web.app import create_app
from tests.reports.run_samples import HOSTILE
from tests.solvers.llm.serving import FakeServer
from tests.web.client import PATIENT_S, Client

STORY = """Ada entered the attic.
Bo entered the attic.
The key is in the box.
Bo exited the attic.
Ada moved the key to the jar.
Ada exited the attic.
Bo entered the attic."""
QUESTION = "Where does Bo think that Ada searches for the key?"
FAMILY = "Ann's son is Bob.\nBob's sister Clara went home.\nDan is the uncle of Clara."
BENCHMARKS = list(names("benchmark"))


def realist(prompt: str) -> str:
    return "jar"


def hostile(prompt: str) -> str:
    return f"box {HOSTILE}"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("explorer")


@pytest.fixture(scope="module")
def client(folder: Path) -> Client:
    return Client(
        create_app(folder / "data", seed=5, models=[f"{__name__}:hostile", f"{__name__}:realist"], quick_s=PATIENT_S)
    )


def story_of(client: Client, **about: Any) -> Any:
    found = client.post("/api/story", about)
    assert found.status == 200, found.text
    return found.json


def test_start_lists_benchmarks_with_their_dials(client: Client) -> None:
    found = client.get("/api/start").json
    listed = {each["name"]: each for each in found["benchmarks"]}
    assert list(listed) == BENCHMARKS
    dials = {each["name"]: each for each in listed["clutrr"]["dials"]}
    assert dials["task"]["kind"] == "choice"
    assert "supporting" in dials["task"]["choices"]
    assert dials["cloze"] == {**dials["cloze"], "kind": "switch", "default": False}
    assert dials["holdout"]["default"] is True
    assert not {"rules", "placeholders", "scenes"} & dials.keys()  # paths are not for pages
    assert "zero-shot" in found["prompts"]
    assert {"name": "rules", "prompts": False} in found["models"]
    assert {"name": f"{__name__}:hostile", "prompts": True} in found["models"]


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_fresh_story_is_proved_confirmed_and_drawn(client: Client, benchmark: str) -> None:
    found = story_of(client, benchmark=benchmark, place=3)
    assert found["answer"]
    assert found["confirmed"]
    assert set(found["proof"]) <= set(range(1, len(found["lines"]) + 1))
    assert found["pictures"][0]["svg"].startswith("<svg")
    assert found["question"] == found["given"][found["asked"]]["question"]
    assert found["reference"]["benchmark"] == benchmark


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_a_reference_names_the_same_story_in_every_server(client: Client, benchmark: str, folder: Path) -> None:
    found = story_of(client, benchmark=benchmark)
    again = Client(create_app(folder, seed=5, quick_s=PATIENT_S))
    assert story_of(again, **found["reference"], asked=found["asked"]) == found


def test_stories_are_fresh(client: Client) -> None:
    assert len({tuple(story_of(client, benchmark="tomi")["lines"]) for _ in range(8)}) > 4


def test_a_dial_changes_the_story(client: Client) -> None:
    found = story_of(client, benchmark="clutrr", settings={"test_k": "7", "text": "synthetic"})
    assert len(found["lines"]) == 7
    assert " is the " in found["lines"][0]
    noisy = story_of(client, benchmark="tom-babi", settings={"noise": "1"})
    assert "Phone rang." in noisy["lines"]
    cloze = story_of(client, benchmark="clutrr", settings={"cloze": True})
    assert "@entity-" in cloze["question"]


def test_a_preset_and_a_split(client: Client) -> None:
    found = story_of(client, benchmark="clutrr", preset="robust-supporting", split="train")
    assert found["facts"]["type"].startswith("task 2, k = ")
    assert found["reference"]["split"] == "train"


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"benchmark": "tomy"}, "Did you mean 'tomi'"),
        ({"benchmark": "tomi@1"}, "unknown benchmark"),
        ({"benchmark": 3}, "expected a text"),
        ({"benchmark": "tomi", "split": "all"}, "unknown split"),
        ({"benchmark": "tomi", "settings": {"noise": "1"}}, "unknown dial of tomi 'noise'"),
        ({"benchmark": "tomi", "settings": {"vocabulary": "words.yaml"}}, "unknown dial of tomi 'vocabulary'"),
        ({"benchmark": "tomi", "settings": ["noise"]}, "expected an object of dials"),
        ({"benchmark": "clutrr", "settings": {"rules": "/etc/passwd"}}, "unknown dial of clutrr 'rules'"),
        ({"benchmark": "clutrr", "settings": {"test_k": "99"}}, "use whole numbers from 2 to 15"),
        ({"benchmark": "clutrr", "settings": {"cloze": "yes"}}, "expected true or false"),
        ({"benchmark": "clutrr", "settings": {"task": True}}, "expected a text"),
        ({"benchmark": "clutrr", "preset": "robust"}, "unknown preset"),
        ({"benchmark": "tomi", "place": 10**12}, "there is no story"),
        ({"benchmark": "tomi", "place": 1, "number": 3}, "there is no story"),
        ({"benchmark": "tomi", "asked": 6}, "the story has 6"),
        ({"benchmark": "tomi", "asked": True}, "expected a whole number"),
        ({"benchmark": "tomi", "order": 9}, "from 1 to 8"),
        ([], "not an object"),
    ],
)
def test_what_cannot_be_made_is_explained(client: Client, about: Any, message: str) -> None:
    found = client.post("/api/story", about)
    assert found.status == 400
    assert message in found.error


def test_invalid_json(client: Client) -> None:
    assert "not valid JSON" in client.request("POST", "/api/story", b'{"benchmark": ').error
    assert "not valid JSON" in client.request("POST", "/api/story", b"\xff").error
    assert "unpaired surrogate" in client.post("/api/read", story="\ud800", question=QUESTION).error


# --- texts of users


def test_a_text_is_read_checked_and_answered(client: Client) -> None:
    found = client.post("/api/read", story=STORY, question=QUESTION).json
    assert found["family"] == "belief"
    assert (found["answer"], found["proof"], found["confirmed"]) == ("box", [1, 2, 3, 4, 6], True)
    assert found["problems"] == []
    answers = {each["name"]: each["answer"] for each in found["readings"]}
    assert answers == {"open": "box", "closed": "box", "infer-mover": "jar"}
    assert found["pictures"][0]["narrow"]
    assert "Where will Ada look for the key?" in found["questions"]


def test_running_text_is_divided(client: Client) -> None:
    found = client.post("/api/read", story=STORY.replace("\n", "  "), question=QUESTION).json
    assert found["lines"] == STORY.split("\n")
    numbered = "\n".join(f"{number}. {line}" for number, line in enumerate(STORY.split("\n"), start=1))
    assert client.post("/api/read", story=numbered, question=QUESTION).json["answer"] == "box"


def test_the_place_of_a_problem_is_exact(client: Client) -> None:
    broken = STORY.replace("moved the key", "hid the key")
    [problem] = client.post("/api/read", story=broken, question=QUESTION).json["problems"]
    assert (problem["part"], problem["line"], problem["column"], problem["length"]) == ("story", 5, 5, 3)
    assert "'hid' does not fit here" in problem["message"]
    [problem] = client.post("/api/read", story=STORY, question="Where will Ada look for the hat?").json["problems"]
    assert (problem["part"], problem["column"], problem["length"]) == ("question", 29, 3)
    story = FAMILY.replace("went home", "saw her stepfather")
    [problem] = client.post("/api/read", story=story, question="What is Dan to Ann?").json["problems"]
    line = story.split("\n")[problem["line"] - 1]
    assert line[problem["column"] - 1 :][: problem["length"]] == "stepfather"


@pytest.mark.parametrize(
    ("sentence", "fixes"),
    [
        ("Bo exitted the attic.", ["exited"]),
        ("Bo ent", ["entered"]),
        ("Bo hid the key to the jar.", ["moved"]),
        ("Bo entered a attic.", ["the"]),
        ("Bo quagged the attic.", []),
    ],
)
def test_a_word_that_does_not_fit_comes_with_words_that_do(client: Client, sentence: str, fixes: list[str]) -> None:
    found = client.post("/api/read", story=f"{STORY}\n{sentence}", question=QUESTION).json
    [problem] = found["problems"]
    assert problem["line"] == 8
    assert problem["fixes"][:1] == fixes
    assert "expected one of" not in problem["message"]


def test_a_message_about_a_sentence_has_its_place(client: Client) -> None:
    story = f"{STORY}\nAda juggled with seven oranges.".replace("\n", " ")
    problems = client.post("/api/read", story=story, question=QUESTION).json["problems"]
    marked = [story[each["column"] - 1 :][: each["length"]] for each in problems if each["line"]]
    assert any("juggled" in each for each in marked), problems
    assert all(len(each) < 40 for each in marked)


def test_what_may_have_been_meant_can_be_accepted(client: Client) -> None:
    story = "Ann and Bob are in the hall. The key is in the box. Ann mooved the key to the jar."
    [problem] = client.post("/api/read", story=story, question="Where is the key?").json["problems"]
    start = problem["column"] - 1
    fixed = story[:start] + problem["fixes"][0] + story[start + problem["length"] :]
    assert problem["message"] == "This sentence is not understood."
    assert client.post("/api/read", story=fixed, question="Where is the key?").json["answer"] == "jar"


def test_forms_of_questions_give_questions_that_are_understood(client: Client) -> None:
    for story, question in ((STORY, QUESTION), (FAMILY, "What is Dan to Ann?")):
        found = client.post("/api/read", story=story, question=question, order=4).json
        assert found["forms"]
        for form in found["forms"]:
            for template in form["templates"]:
                asked = template
                for place in range(8):
                    asked = asked.replace(f"{{{place}}}", found["people"][place % len(found["people"])])
                read = client.post("/api/read", story=story, question=asked).json
                assert not any(each["is_fatal"] for each in read["problems"]), asked
    german = story_of(client, benchmark="tom-k", settings={"language": "de"}, order=3)
    assert "{2}" in german["forms"][0]["templates"][2]


def test_all_samples_are_answered_and_confirmed(client: Client) -> None:
    samples = {
        each["title"]: each for about in client.get("/api/start").json["benchmarks"] for each in about["samples"]
    }
    answers = {}
    for title, each in samples.items():
        found = client.post("/api/read", story=each["story"], question=each["question"]).json
        assert found["problems"] == [], title
        assert found["confirmed"], title
        answers[title] = found["answer"]
    beliefs = {"Sally and Anne": "basket", "A secret look": "oven", "A lie": "cabinet"}
    assert answers == {**beliefs, "A grandson": "grandson", "Two families fit": ""}


def test_the_person_who_differs_between_families_is_marked(client: Client) -> None:
    found = client.post("/api/read", story=FAMILY, question="What is Dan to Ann?").json
    for model in found["models"]:
        assert "Only Dan has another place." in model["caption"]
        assert model["picture"]["svg"].count("person asked moved") == 1


def test_an_impossible_sentence_is_named_and_answered(client: Client) -> None:
    found = client.post("/api/read", story=f"{STORY}\nAda exited the attic.", question=QUESTION).json
    [problem] = found["problems"]
    assert (problem["line"], problem["is_fatal"]) == (8, False)
    assert found["answer"] == "box"


def test_worlds_that_make_an_answer_ambiguous(client: Client) -> None:
    found = client.post("/api/read", story=FAMILY, question="What is Dan to Ann?").json
    assert found["answer"] == ""
    assert found["facts"]["status"] == "ambiguous"
    assert [each["answer"] for each in found["models"]] == ["brother", "brother-in-law"]
    assert all(each["picture"]["svg"].startswith("<svg") for each in found["models"])
    unknown = client.post("/api/read", story=STORY, question="Where will Cy look for the key?").json
    assert unknown["answer"] == ""
    assert [each["answer"] for each in unknown["models"]] == [""]  # in it the key may be anywhere
    assert len(client.post("/api/read", story=STORY, question=QUESTION).json["models"]) == 1


def test_names_help_the_reader(client: Client) -> None:
    story = "Blankets were spread. Tabitha heaved a wardrobe with her mother, Barbara."
    asked = {"story": story, "question": "What is Barbara to Tabitha?"}
    assert client.post("/api/read", asked).json["problems"]
    found = client.post("/api/read", {**asked, "people": ["Tabitha", "Barbara"]}).json
    assert (found["answer"], found["problems"]) == ("mother", [])


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_the_text_of_a_fresh_story_gives_its_answer_again(client: Client, benchmark: str) -> None:
    for place in (3, 17, 101):
        made = story_of(client, benchmark=benchmark, place=place)
        text = {"story": "\n".join(made["lines"]), "question": made["question"], "people": made["people"]}
        found = client.post("/api/read", {**text, "family": made["family"]}).json
        assert (found["problems"], found["answer"]) == ([], made["answer"])


def test_every_listed_question_can_be_asked(client: Client) -> None:
    for story in (STORY, FAMILY):
        first = {STORY: QUESTION, FAMILY: "What is Dan to Ann?"}[story]
        listed = client.post("/api/read", story=story, question=first, order=3).json["questions"]
        assert len(listed) >= 8
        for question in listed:
            found = client.post("/api/read", story=story, question=question).json
            assert not any(each["is_fatal"] for each in found["problems"]), question


# --- states


def test_steps_follow_nested_beliefs(client: Client) -> None:
    steps = client.post("/api/steps", story=STORY, question=QUESTION, order=3).json["steps"]
    assert [each["sentence"] for each in steps] == STORY.split("\n")
    last = {each["name"]: (each["value"], each["is_wrong"]) for each in steps[-1]["entries"]}
    assert last["really"] == ("jar", False)
    assert last["Bo thinks Ada thinks"] == ("box", True)
    assert last["Bo thinks Ada thinks Bo thinks"] == ("box", False)
    assert ["Bo", "Ada", "Bo"] in [each["chain"] for each in steps[-1]["entries"]]
    before = {each["name"]: each["value"] for each in steps[1]["entries"]}
    assert before["really"] == before["Ada thinks"] == ""
    assert before["attic"] == "Ada, Bo"


def test_steps_follow_a_family(client: Client) -> None:
    steps = client.post("/api/steps", story=FAMILY, question="What is Clara to Ann?").json["steps"]
    values = [
        {each["name"]: each["value"] for each in step["entries"] if each["group"] == "the question"} for step in steps
    ]
    assert values == [{"Clara is Ann's": ""}, {"Clara is Ann's": "daughter"}, {"Clara is Ann's": "daughter"}]
    assert all(each["picture"]["svg"].startswith("<svg") for each in steps)


@pytest.mark.parametrize("benchmark", BENCHMARKS)
def test_steps_of_a_fresh_story(client: Client, benchmark: str) -> None:
    made = story_of(client, benchmark=benchmark, place=3)
    steps = client.post("/api/steps", {**made["reference"], "asked": made["asked"]}).json["steps"]
    assert [each["sentence"] for each in steps] == made["lines"]
    assert any(each["entries"] or each["picture"] for each in steps)


def test_too_many_beliefs_are_refused(client: Client) -> None:
    story = "\n".join([*(f"Person{number} entered the attic." for number in range(9)), "The key is in the box."])
    found = client.post("/api/steps", story=story, question="Where is the key really?", order=4)
    assert "choose a lower order" in found.error


# --- models


def test_a_solver_is_asked(client: Client) -> None:
    made = story_of(client, benchmark="tomi")
    found = client.post("/api/ask", {**made["reference"], "asked": made["asked"], "model": "oracle"}).json
    assert found["answer"] == made["answer"]
    assert found["matches"]["careful"]["right"]


def test_a_wrong_answer_comes_with_its_mistake(client: Client) -> None:
    story = {"story": STORY, "question": QUESTION}
    found = client.post("/api/ask", {**story, "model": f"{__name__}:realist", "prompt": "zero-shot"}).json
    assert not found["matches"]["careful"]["right"]
    assert found["mistake"] == "what follows under another reading"
    assert "mistake" not in client.post("/api/ask", {**story, "model": "oracle"}).json


def test_a_language_model_is_asked_and_its_reply_is_only_text(client: Client) -> None:
    model = f"{__name__}:hostile"
    found = client.post("/api/ask", story=STORY, question=QUESTION, model=model, prompt="zero-shot")
    assert found.headers["content-type"] == "application/json"
    [step] = found.json["steps"]
    assert QUESTION in step["prompt"]
    assert "Rules for this story:" in step["prompt"]
    plain = client.post("/api/ask", story=STORY, question=QUESTION, model=model, conventions=False)
    assert step["prompt"].endswith("\n\n" + plain.json["steps"][0]["prompt"])
    assert HOSTILE in step["reply"]


def test_what_a_language_model_says_comes_bit_by_bit(folder: Path) -> None:
    with FakeServer(reply="In the jar.") as server:
        options = ModelOptions(base_urls=(server.url,), retries=0)
        client = Client(create_app(folder / "data", models=["openai/fake"], options=options, quick_s=PATIENT_S))
        about = {"story": STORY, "question": QUESTION, "model": "openai/fake", "prompt": "zero-shot"}
        whole = client.post("/api/ask", about)
        assert whole.headers["content-type"] == "application/x-ndjson"
        *said, last = map(json.loads, whole.text.splitlines())
        assert said[-1] == {"said": "In the jar."}
        assert last["answer"] == "In the jar."
        assert not last["matches"]["careful"]["right"]
        server.behave(reply="In the jar.", ends_in_the_middle=True)
        *said, last = map(json.loads, client.post("/api/ask", about | {"conventions": False}).text.splitlines())
        assert said[-1] == {"said": "In the "}
        assert "ends in the middle" in last["error"]
        server.behave(broken=1.0)
        refused = client.post("/api/ask", about | {"prompt": "chain-of-thought"})
        assert (refused.status, "out of memory" in refused.error) == (400, True)


@pytest.mark.parametrize("model", ["os:system", "openai/gpt", "/etc/passwd", "majority", "nobody"])
def test_a_page_cannot_choose_another_model(client: Client, model: str) -> None:
    assert "unknown model" in client.post("/api/ask", story=STORY, question=QUESTION, model=model).error


def test_a_model_is_also_asked_about_a_text_that_cannot_be_read(client: Client) -> None:
    text = {"story": "Ada sat down with her key.", "question": "Who sat down?"}
    found = client.post("/api/ask", {**text, "model": f"{__name__}:hostile"}).json
    assert text["story"] in found["steps"][0]["prompt"]
    assert (found["target"], found["matches"]) == (None, {})
    assert client.post("/api/ask", {**text, "model": "oracle"}).status == 400
    assert "names no story" in client.post("/api/ask", benchmark="tomi", model="oracle").error


# --- nothing that is shown is ever markup


def test_markup_in_texts_is_text(client: Client) -> None:
    name = "<img/src=x>"
    story = STORY.replace("Ada", name)
    found = client.post("/api/read", story=story, question=QUESTION.replace("Ada", name)).json
    assert found["answer"] == "box"
    for picture in found["pictures"]:
        assert name not in picture["svg"] + picture["narrow"]
        assert "&lt;img/src=x&gt;" in picture["svg"]
    for text in (HOSTILE, "\x00", "a" * 19_000, "\n" * 150, "@" * 5_000):
        for question in (QUESTION, "What is Dan to Ann?", text[:900]):
            found_any = client.post("/api/read", story=text, question=question)
            assert found_any.status == 200, found_any.text
            assert found_any.json["problems"]


def test_families_agree_with_the_page(client: Client) -> None:
    """The checker that confirms answers is the family's own."""
    family = load_family("belief")
    found = client.post("/api/read", story=STORY, question=QUESTION).json
    assert found["answer"] == family.checked_answer(family.prove_text(STORY, QUESTION))


# --- downloads


def test_a_dataset_is_made_in_the_data_folder(client: Client, folder: Path) -> None:
    found = client.post("/api/dataset", benchmark="tomi", test=6, train=3, seed=7, format="jsonl").json
    assert found["splits"]["test"] == {"stories": 6, "questions": 36}
    sent = client.get(f"/downloads/{found['file']}")
    with zipfile.ZipFile(io.BytesIO(sent.body)) as archive:
        stem = found["file"].removesuffix(".zip")
        assert sorted(archive.namelist()) == [
            f"{stem}/{name}" for name in ("manifest.json", "test.jsonl", "train.jsonl")
        ]
    assert [path.name for path in folder.iterdir()] == ["data"]
    assert [path.name for path in (folder / "data").iterdir()] == ["downloads"]
    assert all(path.suffix == ".zip" for path in (folder / "data" / "downloads").iterdir())


@pytest.mark.parametrize(
    ("about", "message"),
    [
        ({"test": 30_000}, "at most 20,000"),
        ({}, "no stories requested"),
        ({"test": 3, "format": "csv"}, "unknown format"),
        ({"test": -3}, "expected a whole number"),
    ],
)
def test_a_dataset_that_cannot_be_made(client: Client, about: dict[str, Any], message: str) -> None:
    assert message in client.post("/api/dataset", benchmark="tomi", **about).error
