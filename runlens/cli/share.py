"""What `runlens diagnose --share` does: writes a case, reads it again, says what comes back."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from runlens.cli.output import shown, write

if TYPE_CHECKING:
    from runlens.diagnosis import Diagnosis
    from runlens.run import Run
    from runlens.settings import Settings


def write_case(
    name: str, runs: "Sequence[Run]", diagnoses: "Sequence[Diagnosis]", settings: "Settings"
) -> None:
    """Write the one run that was diagnosed as a case; say on stderr what of it comes back."""
    from runlens.engine import diagnose
    from runlens.report import case
    from runlens.rules import LISTED
    from runlens.sources import read

    if len(runs) != 1:
        raise click.UsageError("--share takes one run, and these are several; add --run NAME")
    path = Path(name)
    write(path, case.render(runs[0], diagnoses[0], {rule.slug for rule in LISTED}))
    again = {finding.rule for finding in diagnose(read(path), settings=settings).findings}
    found = list(dict.fromkeys(finding.rule for finding in diagnoses[0].findings))
    kept = [rule for rule in found if rule in again]
    line = f"Case: {shown(path)}; {len(kept)} of {len(found)} findings rest on its numbers alone"
    rest = ", ".join(rule for rule in found if rule not in again)
    click.echo(f"{line}; not: {rest}" if rest else line, err=True)
    click.echo("Look at it before you send it: it is text.", err=True)
