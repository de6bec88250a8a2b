"""What the site has beyond the pages in docs/: `mkdocs build` calls these functions.

- Pages about the whole project (changelog, contributing …) and whatever pages link to outside of docs/ become part of
  the site, so that every link works offline as it does in the repository.
- The reference of the Python API, the options of all commands, and long lists of stories and figures follow from the
  package, the list of decisions from their files, and the pages of notebooks from the notebooks.

Build with `python -m mkdocs` in the root of the repository, so that `docs` can be imported.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from nbconvert import MarkdownExporter

import storyproof
from docs.generate import SITE_PAGES
from docs.samples import SAMPLES

ROOT = Path(__file__).parents[2]
DOCS = "docs/"
USE = "Use it"  # the part of the navigation that search finds first
PROJECT = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
_LINK = re.compile(r"(?<=\]\()(?!\w+:|#|/)([^)#\s]+)(?=[)#])")
_LIST = re.compile(r"^(?![-*#>|\s]|1\. )(.+)\n(?=[-*] |1\. |\|)", re.MULTILINE)  # after a line of a paragraph
_CORNER = re.compile(r"<th( [^>]*)?></th>")
_FENCED = re.compile(r"(^ *```.*?^ *```)", re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    for name in PROJECT:
        files.append(_copy(config, name))
    for notebook in sorted((ROOT / DOCS / "notebooks").glob("*.ipynb")):
        uri = f"notebooks/{notebook.stem}.md"
        files.append(File.generated(config, uri, content=notebook_page(notebook)))
    for uri, page in SITE_PAGES.items():
        files.append(File.generated(config, uri, content=page()))
    for uri, page in SAMPLES.items():
        files.append(File.generated(config, uri, content=page()))
    files.append(File.generated(config, "reference.md", content=reference()))
    files.append(File.generated(config, "decisions/index.md", content=decisions()))
    waiting = [file for file in files if file.is_documentation_page()]
    while waiting:
        for target in _targets(waiting.pop()):
            if files.get_file_from_path(site_uri(target)) is None:
                added = _copy(config, target)
                added.inclusion = InclusionLevel.NOT_IN_NAV
                files.append(added)
                if added.is_documentation_page():
                    waiting.append(added)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Turn links between files of the repository into links between pages of the site.

    Blank lines are added around code and before lists and tables, where Python-Markdown needs them and CommonMark, by
    which the pages are written, does not.
    """
    if page.parent is None:  # a page that is a tab of its own has nothing beside it
        page.meta.setdefault("hide", ["navigation"])
    if page.file.generated_by and page.file.inclusion.is_not_in_nav():  # pages tell what tables of figures mean
        page.meta.setdefault("search", {"exclude": True})
    if page.ancestors and page.ancestors[-1].title == USE:
        page.meta.setdefault("search", {"boost": 2})
    here = posixpath.dirname(page.file.src_uri)

    def lead(found: re.Match[str]) -> str:
        target = _resolve(page.file, found[1])
        return found[1] if target is None else posixpath.relpath(site_uri(target), here or ".")

    parts = _FENCED.split(markdown)
    parts[::2] = [_LINK.sub(lead, _LIST.sub(r"\1\n\n", part)) for part in parts[::2]]
    return "\n".join(part if place % 2 else f"{part}\n" for place, part in enumerate(parts))  # code stands apart


def site_uri(path: str) -> str:
    """Return where a file of the repository, or the page made from it, is in the site."""
    if path == "README.md":
        return "index.md"
    if path == f"{DOCS}figures.toml":
        return "figures.md"
    return path.removeprefix(DOCS).replace(".ipynb", ".md")


def _repository_path(file: File) -> str:
    """Return where a file of the site is in the repository."""
    is_own = (ROOT / DOCS / file.src_uri).parent.is_dir() and not (ROOT / file.src_uri).exists()
    return f"{DOCS}{file.src_uri}" if is_own else file.src_uri


def _targets(file: File) -> Iterator[str]:
    """Yield what a page links to, as paths in the repository."""
    for part in _FENCED.split(file.content_string)[::2]:
        for link in _LINK.findall(part):
            target = _resolve(file, link)
            if target is not None:
                yield target


def _resolve(file: File, link: str) -> str | None:
    """Return the path in the repository of what a page links to; a folder stands for its page, None for no file."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(_repository_path(file)), link))
    if target.startswith("..") or not (ROOT / target).exists():
        return None
    if not (ROOT / target).is_dir():
        return target
    return f"{target}/{'README.md' if (ROOT / target / 'README.md').exists() else 'index.md'}"


def _copy(config: MkDocsConfig, path: str) -> File:
    if (ROOT / path).exists():
        return File.generated(config, site_uri(path), abs_src_path=str(ROOT / path))
    return File.generated(config, site_uri(path), content=folder_page((ROOT / path).parent))


def folder_page(folder: Path) -> str:
    """Return the page of a folder that has none: the pages below it."""
    pages = [path.relative_to(folder).as_posix() for path in sorted(folder.rglob("*.md"))]
    return "\n".join([f"# {folder.relative_to(ROOT).as_posix()}\n", *(f"- [{page}]({page})" for page in pages)])


def notebook_page(path: Path) -> str:
    """Return a notebook with its outputs as a page."""
    notebook: Any = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    text, _ = MarkdownExporter().from_notebook_node(notebook)
    title, _, rest = text.lstrip().partition("\n")
    return f'{title}\n\n<a href="{path.name}" download>Download this notebook</a>\n{rest}'


def decisions() -> str:
    """Return the page that lists the decision records."""
    lines = ["# Decisions\n", "Why things are as they are, one page each.\n"]
    for path in sorted((ROOT / DOCS / "decisions").glob("[0-9]*.md")):
        title = path.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
        lines.append(f"- [{title}]({path.name})")
    return "\n".join(lines)


_MODULES = {
    "storyproof.rewards": "storyproof.integrations.rewards",
    "storyproof.hf": "storyproof.integrations.hf",
    "storyproof.integrations.curriculum": "storyproof.integrations.curriculum",
    "storyproof.integrations.reasoning_gym": "storyproof.integrations.reasoning_gym",
}
_EXTENDING = (
    "storyproof.benchmark.Benchmark",
    "storyproof.benchmark.Config",
    "storyproof.families.family.Family",
    "storyproof.families.rowwise.RowwiseFamily",
    "storyproof.formats.format.Format",
)


def reference() -> str:
    """Return the page of the API reference: directives that mkdocstrings replaces by docstrings."""
    names = [name for name in storyproof.__all__ if not name.startswith("_")]
    parts = [
        "# API reference\n",
        "All public names, from their docstrings. Start with the [guide to the API](api.md). A test runs the example "
        "of every function and class.\n",
        "## Functions\n",
        *(f"::: storyproof.{name}\n" for name in names if name[0].islower()),
        "## Classes\n",
        *(f"::: storyproof.{name}\n" for name in names if name[0].isupper()),
        "## Modules\n",
        *(f"::: {place}\n" for place in _MODULES.values()),
        "## For extensions\n",
        "How to use these classes: [extending storyproof](families.md).\n",
        *(f"::: {place}\n" for place in _EXTENDING),
    ]
    return "\n".join(parts)


def on_page_content(html: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Make the empty corner of a table an ordinary cell: it heads nothing, and screen readers would announce it."""
    return _CORNER.sub(r"<td\1></td>", html)
