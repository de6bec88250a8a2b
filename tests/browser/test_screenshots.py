"""The screenshots of the docs stay true: taken again, they look the same."""

import shutil
import subprocess
from pathlib import Path

import pytest
from PIL import Image, ImageOps
from playwright.sync_api import Browser

from docs.screenshots import IMAGES, SHOTS, difference, take

MOST = 0.08  # a page that moved by a paragraph differs by more than 0.15; so can one in another font
FONT = "DejaVu Sans"  # that of the screenshots


def has_font() -> bool:
    """Return whether pages on this machine are in the font of the screenshots."""
    if shutil.which("fc-match") is None:
        return False
    return FONT in subprocess.run(["fc-match", "system-ui"], capture_output=True, text=True, check=False).stdout


@pytest.mark.skipif(not has_font(), reason=f"screenshots are in {FONT}, which is not this machine's font")
@pytest.mark.parametrize("name", SHOTS)
def test_screenshots_are_up_to_date(browser: Browser, tmp_path: Path, name: str) -> None:
    taken = tmp_path / name
    taken.write_bytes(take(browser, SHOTS[name], tmp_path))
    assert difference(taken, IMAGES / name) < MOST, "run make screenshots, and look at them"


@pytest.mark.parametrize("name", SHOTS)
def test_other_pictures_are_noticed(tmp_path: Path, name: str) -> None:
    """A page in other colours, moved by a paragraph, or without its lower half does not pass for the same."""
    shot = Image.open(IMAGES / name).convert("RGB")
    changes = {
        "colours": ImageOps.invert(shot),
        "moved": shot.transform(
            shot.size, Image.Transform.AFFINE, (1, 0, 0, 0, 1, 120), fillcolor=shot.getpixel((1, 1))
        ),
        "half": shot.crop((0, 0, shot.width, shot.height // 2)),
    }
    for change, picture in changes.items():
        picture.save(tmp_path / "changed.png")
        assert difference(tmp_path / "changed.png", IMAGES / name) > MOST, change
    assert difference(IMAGES / name, IMAGES / name) == 0


def test_all_images_of_the_docs_are_made_by_a_script() -> None:
    from docs.generate import PAGES

    made = {path.name for path in PAGES} | set(SHOTS)
    assert {path.name for path in IMAGES.iterdir()} <= made
