"""The header of all pages: the logo, and where else one can go.

A page that a server sends links to the server's other pages. A page in a file has the logo only, for nothing else is
there.
"""

from __future__ import annotations

from storyproof.pictures.svg import element, safe

# The pages that `serve` has, by address.
PLACES = {"/explore": "Explore", "/runs": "Runs", "/data": "Data", "/studies": "Studies", "/docs": "Docs"}
LOGO = (
    '<svg class="logo" viewBox="0 0 24 24" aria-hidden="true">'
    '<path class="bubble" d="M4 3h16a2 2 0 0 1 2 2v11a2 2 0 0 1-2 2h-8l-5 4v-4H4a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2z"/>'
    '<path class="tick" d="M7.5 10.5l3.2 3.2 6-6.4"/></svg>'
)


def page_header(here: str = "", *, served: bool = False) -> str:
    """Return the header of a page.

    Args:
        here: The address of the place that the page belongs to, such as `/runs`; on a page in a file a word for what it
            is, such as "Report".
        served: Whether the page comes from `serve`, so that the other places can be reached.
    """
    name = f"{LOGO}<span>storyproof</span>"
    if served:
        current = {"aria_current": "page"}
        links = "".join(
            element("a", title, href=address, **(current if address == here else {}))
            for address, title in PLACES.items()
        )
        parts = element("a", name, class_="brand", href="/", **(current if here == "/" else {}))
        parts += element("span", links, class_="places")
    else:
        parts = element("a", name, class_="brand", href="#") + (
            element("span", safe(here), class_="here") if here else ""
        )
    skip = element("a", "Skip to the content", class_="skip", href="#content")
    inner = element("span", parts, class_="inside")
    return element("nav", skip + inner, class_="site-header", aria_label="storyproof")
