"""Packages that only some commands need: which extra of ours brings each, and what to do without.

The base reads, judges, compares and reports; everything here is asked for when it is used.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import NoReturn

from runlens.errors import MissingPackage

EXTRAS = {  # package, as it is imported -> extra
    "IPython": "notebook",
    "apprise": "notify",
    "distributed": "cluster",
    "filelock": "audit",
    "mcp": "mcp",
    "nbformat": "notebook",
    "pandas": "notebook",
    "plotly": "notebook",
    "psycopg": "postgres",
    "pyarrow": "parquet",
    "scipy": "stats",
    "sqlalchemy": "audit",
    "tbparse": "tensorboard",
    "wandb": "wandb",
}


def install(package: str) -> str:
    """Return the command that installs a package: the extra that brings it, else the package."""
    extra = EXTRAS.get(package)
    return f"pip install 'runlens-training[{extra}]'" if extra else f"pip install {package}"


@contextmanager
def needed_by(what: str) -> Iterator[None]:
    """Name the extra where the body imports a package that is not installed.

    Args:
        what: the command or function that cannot go on: ``runlens audit``.

    Raises:
        MissingPackage: for a package of `EXTRAS`; any other error passes as it is.

    """
    try:
        yield
    except ModuleNotFoundError as error:
        _explain(what, error)


def _explain(what: str, error: ModuleNotFoundError) -> NoReturn:
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        raise error
    raise MissingPackage(what, package, install(package)) from None
