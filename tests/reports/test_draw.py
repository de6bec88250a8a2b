import json
import struct
from pathlib import Path
from xml.etree import ElementTree

import pytest

import storyproof
from storyproof.errors import ConfigError, DataError
from storyproof.pictures.svg import captioned
from tests.cli.invocation import run
from tests.families.kinship.pictures.test_tree import GRANDMOTHER
from tests.samples import BELIEF, REALITY, example, row

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def story(tmp_path: Path) -> Path:
    asked = [
        example(id="0", question=REALITY, chain=[], order=0, answer="jar", false_belief=False),
        example(id="1", question=BELIEF, chain=["Ada", "Ben"], order=2),
        example(id="2"),
    ]
    path = tmp_path / "x.jsonl"
    path.write_text("".join(json.dumps(row(each)) + "\n" for each in asked))
    return path


def texts(picture: str) -> list[str]:
    return ["".join(each.itertext()) for each in ElementTree.fromstring(picture).iter(f"{SVG}text")]


def test_the_simplest_false_belief_is_drawn(story: Path, tmp_path: Path) -> None:
    (drawn,) = storyproof.draw(story, out=tmp_path / "x.svg")
    written = (tmp_path / "x.svg").read_text()
    assert texts(written)[:2] == ["Where will Ben look for the key?", "Answer: box"]
    assert "Ben thinks" in texts(written)
    assert "var(" not in written  # other programs than browsers do not know variables
    assert "Ben thinks" in texts(drawn.svg)


@pytest.mark.parametrize(("question", "asked"), [(0, REALITY), (1, BELIEF), (2, "Where will Ben look for the key?")])
def test_a_question_can_be_chosen(story: Path, tmp_path: Path, question: int, asked: str) -> None:
    done = run("show", story, "--question", question, "-o", tmp_path / "x.svg")
    assert done.exit_code == 0, done.stderr
    assert done.stdout == f"the picture was written to {tmp_path / 'x.svg'}\n"
    assert texts((tmp_path / "x.svg").read_text())[0] == asked


def test_pictures_for_print(story: Path, tmp_path: Path) -> None:
    pytest.importorskip("vl_convert")
    storyproof.draw(story, out=tmp_path / "x.png")
    storyproof.draw(story, out=tmp_path / "x.PDF")
    png = (tmp_path / "x.png").read_bytes()
    assert png.startswith(b"\x89PNG")
    assert struct.unpack(">I", png[16:20])[0] > 1000
    assert (tmp_path / "x.PDF").read_bytes().startswith(b"%PDF")


def test_several_pictures_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row(GRANDMOTHER)) + "\n")
    drawn = storyproof.draw(path, out=tmp_path / "a.svg")
    assert len(drawn) == 2
    assert sorted(each.name for each in tmp_path.glob("*.svg")) == ["a-2.svg", "a.svg"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--index", "5", "-o", "x.svg"], "--index is 5, but there are only 1 stories"),
        (["--question", "3", "-o", "x.svg"], "--question is 3, but the story has only 3 questions"),
        (["-o", "x.bmp"], "--out is x.bmp; its name must end in .svg, .png, .pdf or .gif."),
        (["-o", "nowhere/x.svg"], "cannot write nowhere/x.svg: there is no such folder"),
    ],
)
def test_mistakes_are_explained(
    story: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert message in str(run("show", story, *options).exception)
    assert list(tmp_path.glob("*.svg")) == []


def test_what_cannot_be_drawn_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(json.dumps(row(example(chain=["Zoe"], question="Where will Zoe look for the key?"))) + "\n")
    with pytest.raises(DataError, match="Zoe"):
        storyproof.draw(path)


def test_a_question_from_outside_is_an_error(story: Path) -> None:
    with pytest.raises(ConfigError, match="--question is -1"):
        storyproof.draw(story, question=-1)


def test_lines_above_a_picture_are_text() -> None:
    picture = storyproof_picture()
    captioned_picture = captioned(picture, ["<b>&", "x" * 500])
    root = ElementTree.fromstring(captioned_picture)
    assert texts(captioned_picture)[0] == "<b>&"
    assert [child.tag for child in root][:2] == [f"{SVG}title", f"{SVG}desc"]
    assert float(root.get("height", "")) > float(ElementTree.fromstring(picture).get("height", ""))
    assert captioned(picture, []) == picture


def storyproof_picture() -> str:
    from storyproof.families.family import family_of

    return family_of(example()).pictures([example()])[0].svg


def test_a_story_that_plays_as_a_gif(story: Path, tmp_path: Path) -> None:
    """One frame per sentence, one before, and one for the proof and the answer, which stands longest."""
    pytest.importorskip("vl_convert")
    images = pytest.importorskip("PIL.Image")
    storyproof.draw(story, out=tmp_path / "x.gif")
    with images.open(tmp_path / "x.gif") as picture:
        sentences = len(example(id="2").story.split("\n"))
        assert picture.n_frames == sentences + 2
        shades, times = [], []
        for number in range(picture.n_frames):
            picture.seek(number)
            frame = picture.convert("RGB")
            times.append(picture.info["duration"])
            shades.append({shade for _, shade in frame.getcolors(frame.width * frame.height)})
            assert frame.getpixel((1, 1)) == (255, 255, 255)
    false, proof = ((0xFB, 0xE3, 0xE0), (0xFF, 0xF3, 0xC4))
    assert times[-1] > 2 * times[0]
    assert false not in shades[1]
    assert false in shades[-2]  # the belief has become false
    assert proof not in shades[-2]
    assert proof in shades[-1]
    assert storyproof.draw(story, out=tmp_path / "y.gif")
    assert (tmp_path / "x.gif").read_bytes() == (tmp_path / "y.gif").read_bytes()


def test_a_story_that_plays_as_svg(story: Path, tmp_path: Path) -> None:
    """It begins without sentences and ends with all; where nothing plays, all is there; it plays three times."""
    done = run("show", story, "-o", tmp_path / "x.svg", "--play")
    assert done.exit_code == 0, done.stderr
    root = ElementTree.fromstring((tmp_path / "x.svg").read_text())
    heights, *late = root.iter(f"{SVG}animate")
    steps = [float(each) for each in (heights.get("values") or "").split(";")]
    assert steps[0] == 0
    assert steps == sorted(steps)
    clip = next(root.iter(f"{SVG}clipPath"))
    assert float(clip[0].get("height") or 0) == steps[-1]
    assert [each.get("values") for each in late] == ["0;1", "0;1"]
    assert all(each.get("repeatCount") == "3" for each in (heights, *late))
    words = texts((tmp_path / "x.svg").read_text())
    assert words[0] == "Where will Ben look for the key?"
    assert "answer: box" in words
    assert words[-1] == "storyproof · proved"


def test_what_does_not_play_is_said(story: Path, tmp_path: Path) -> None:
    path = tmp_path / "kin.jsonl"
    path.write_text(json.dumps(row(GRANDMOTHER)) + "\n")
    with pytest.raises(DataError, match="does not play sentence by sentence"):
        storyproof.draw(path, out=tmp_path / "kin.gif")
    with pytest.raises(ConfigError, match=r"writes \.svg and \.gif only"):
        storyproof.draw(story, out=tmp_path / "x.png", play=True)
    with pytest.raises(ConfigError, match="add --out"):
        storyproof.draw(story, play=True)
    assert isinstance(run("show", story, "--play").exception, ConfigError)
