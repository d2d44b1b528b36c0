"""What a name says only beside another one of the same table."""

from collections.abc import Iterable

from runlens.naming.agents import games_apart

# of those on which a model was fitted, and of later ones: forecasters hold one against the other
_IN_SAMPLE, _OUT_OF_SAMPLE = "is", "oos"


def told_beside(names: Iterable[str]) -> dict[str, str]:
    """Return what names are by what stands beside them: ``losses`` by wins, ``mse_is`` by its twin.

    >>> told_beside(["mse_is", "mse_oos"])
    {'mse_is': 'mse in sample'}
    """
    known = list(names)
    return games_apart(known) | _in_sample(known)


def _in_sample(names: list[str]) -> dict[str, str]:
    """Return the names that end as no other than those of their twins out of sample would."""
    ends = {name.lower() for name in names}
    of_both = {
        name: lower.removesuffix(f"_{_IN_SAMPLE}")
        for name in names
        if (lower := name.lower()).endswith(f"_{_IN_SAMPLE}")
    }
    return {
        name: f"{name[: len(stem)]} in sample"
        for name, stem in of_both.items()
        if f"{stem}_{_OUT_OF_SAMPLE}" in ends
    }
