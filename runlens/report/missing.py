"""What to add to a training so that a check that could not run can run the next time."""

from runlens.diagnosis import UNLOGGED
from runlens.how_to_log import how_to_log
from runlens.wording import listed


def told(reason: str, framework: str = "") -> str:
    """Return why a check could not run, with the line that logs what is missing.

    >>> told("not logged: grad_norm")
    'grad_norm is not logged; log the return value of clip_grad_norm_ as grad_norm'
    """
    if not reason.startswith(UNLOGGED):
        return reason
    needs = reason.removeprefix(UNLOGGED).split(", ")
    said = "; ".join(_absent(need.split(" or ")) for need in needs)
    how = how_to_log(needs[0].split(" or "), framework)
    return f"{said}; {how}" if how else said


def _absent(names: list[str]) -> str:
    if len(names) == 1:
        return f"{names[0]} is not logged"
    if all(name.startswith("ebft_") for name in names):
        return "no sample-diversity metric is logged"
    if len(names) == 2:  # noqa: PLR2004 - of more than two, none
        return f"neither {' nor '.join(names)} is logged"
    return f"none of {listed(names)} is logged"
