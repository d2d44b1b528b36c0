"""The pages of the docs that are made from the code: nothing of them is written by hand.

`pages()` gives all of them; `hook.py` hands them to mkdocs. Paths are those within the site.
"""

from collections.abc import Mapping

from docs.generate import (
    commands,
    gallery,
    python_api,
    rule_pages,
    schemas,
    settings_page,
    sources_page,
)


def pages() -> Mapping[str, str]:
    """Return the content of each page by its path, ``reference/cli.md``."""
    return {
        "gallery/index.md": gallery.page(),
        "reference/cli.md": commands.page(),
        "reference/settings.md": settings_page.page(),
        "reference/python.md": python_api.page(),
        "reference/sources.md": sources_page.page(),
        **schemas.pages(),
        **rule_pages.pages(),
    }
