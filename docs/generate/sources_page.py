"""The table of what can be read, from the readers."""

from docs.generate.markup import escaped, table
from runlens.sources import described, kind_of


def page() -> str:
    """Return the page: one row a source."""
    rows = [
        (
            f"`{kind_of(reader)}`",
            escaped(reader.LOOKS_FOR),
            escaped(reader.FRAMEWORK),
            ", ".join(f"`{name}`" for name in getattr(reader, "NEEDS", ())) or "built in",
        )
        for reader in described()
    ]
    return (
        "# Sources\n\n"
        "Whatever of these lies in a directory is merged into one history of one run; different"
        " runs stay different runs. Damaged files are read as far as they go, and what was lost"
        " is said. Nothing is unpickled, and nothing is written into the run.\n\n"
        "`runlens sources` prints this table with the versions of the libraries on your machine;"
        " `runlens sources runs/my-run` says what of it was found there.\n\n"
        + table(("source", "looks for", "written by", "library"), rows)
    )
