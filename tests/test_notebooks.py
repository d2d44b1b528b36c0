"""The notebooks run from top to bottom, and show what they print today."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def printed(notebook: NotebookNode) -> list[str]:
    """Return what each cell printed."""
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    return ["".join(out.get("text", "") for out in cell.outputs) for cell in cells]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("path", sorted(NOTEBOOKS.glob("*.ipynb")), ids=lambda path: path.stem)
def test_notebook_runs(path: Path) -> None:
    """Without an error in any cell; if it prints something else now, run `make notebooks`."""
    notebook = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    before = printed(notebook)
    client = NotebookClient(notebook, timeout=120, resources={"metadata": {"path": path.parent}})
    client.execute()
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    assert printed(notebook) == before
