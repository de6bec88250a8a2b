"""The screenshots in the docs still show what the pages look like."""

from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from docs.screenshots import IMAGES, SHOTS, take

ALIKE = 4.0  # mean difference of the shades of two pictures, of 255; another layout differs by 10 and more

# Both pictures are drawn 16 times smaller, so that fonts and edges do not matter.
COMPARE = """async (sources) => {
  const shades = [];
  const sizes = [];
  for (const source of sources) {
    const image = new Image();
    image.src = source;
    await image.decode();
    const [width, height] = [image.naturalWidth >> 4, image.naturalHeight >> 4];
    sizes.push([image.naturalWidth, image.naturalHeight].join("x"));
    const canvas = document.createElement("canvas");
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext("2d");
    context.imageSmoothingQuality = "high";
    context.drawImage(image, 0, 0, width, height);
    shades.push(context.getImageData(0, 0, width, height).data);
  }
  if (sizes[0] !== sizes[1]) return 255;
  let sum = 0;
  for (let place = 0; place < shades[0].length; place++) sum += Math.abs(shades[0][place] - shades[1][place]);
  return (sum / shades[0].length) * (4 / 3);
}"""


def difference(browser: Browser, first: bytes, second: bytes) -> float:
    page = browser.new_page()
    sources = [f"data:image/png;base64,{b64encode(each).decode()}" for each in (first, second)]
    try:
        return float(page.evaluate(COMPARE, sources))
    finally:
        page.close()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shots")


@pytest.mark.slow
@pytest.mark.parametrize("name", SHOTS)
def test_screenshots_are_true(name: str, browser: Browser, folder: Path) -> None:
    kept = (IMAGES / f"{name}.png").read_bytes()
    assert difference(browser, kept, take(browser, SHOTS[name], folder)) < ALIKE, "run python -m docs.screenshots"


def test_other_pictures_are_told_apart(browser: Browser) -> None:
    first, second = ((IMAGES / f"{name}.png").read_bytes() for name in ("report", "report-answer"))
    assert difference(browser, first, first) == 0
    assert difference(browser, first, second) > 2 * ALIKE
