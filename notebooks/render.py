"""Execute the notebooks and keep their outputs: python notebooks/render.py [NAME]...

Figures are kept as data, not as pages, so that a notebook stays small.
"""

import os
import sys
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent
HOW = {"record_timing": False, "coalesce_streams": True}


def render(path: Path) -> None:
    """Execute one notebook in place; the same run of it gives the same bytes."""
    os.environ["PLOTLY_RENDERER"] = "plotly_mimetype"
    notebook = nbformat.read(path, as_version=4)
    resources = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=300, resources=resources, **HOW).execute()
    notebook.metadata["language_info"] = {"name": "python"}
    nbformat.write(notebook, path)


if __name__ == "__main__":
    for name in sys.argv[1:] or sorted(path.stem for path in HERE.glob("*.ipynb")):
        render(HERE / f"{name}.ipynb")
