"""A hook of mkdocs: puts the pages that are made from the code beside those written by hand."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

sys.path.insert(0, str(Path(__file__).parents[2]))  # mkdocs loads a hook by its file alone


def on_config(config: "MkDocsConfig") -> "MkDocsConfig":
    """Add the pages that mkdocs.yml does not list to the navigation."""
    from docs.generate.navigation import filled

    config.nav = filled(config.nav or [])
    return config


def on_files(files: "Files", config: "MkDocsConfig") -> "Files":
    """Add the pages themselves."""
    from mkdocs.structure.files import File

    from docs.generate import gallery, pages

    for path, content in {**pages(), **gallery.reports()}.items():
        files.append(File.generated(config, path, content=content))
    return files
