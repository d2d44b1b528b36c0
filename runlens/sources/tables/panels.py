"""The panel of SwanLab as CSV: of each run the values at the steps, and when each was logged.

``step,<run>-<metric>_step,<run>-<metric>_timestamp``: what ends as a step does is the value there.
"""

import numpy as np

from runlens.sources.tables.held import Column, Table

STEP, VALUE, CLOCK = "step", "_step", "_timestamp"
MILLISECONDS = 1e12  # since 1970, from which a number is a time of 2001 or later


def of_panel(table: Table) -> list[tuple[str, Table]]:
    """Return the table of each run in such a panel, by the name of the run; nothing of others.

    A counter beside a clock is no value: its numbers are whole.
    """
    panels = {
        name.removesuffix(CLOCK): column
        for name, column in table.columns.items()
        if name.endswith(CLOCK)
    }
    values = {panel: table.columns.get(f"{panel}{VALUE}") for panel in panels}
    if not panels or len(table.columns) != 1 + 2 * len(panels) or STEP not in table.columns:
        return []
    runs: dict[str, dict[str, Column]] = {}
    for panel, clock in panels.items():
        value, (run, _, metric) = values[panel], panel.rpartition("-")
        if value is None or not run or not metric or not _are_values(value, clock):
            return []
        runs.setdefault(run, {STEP: table.columns[STEP]})[metric] = value
    return [(run, Table(table.rows, columns)) for run, columns in runs.items()]


def _are_values(value: Column, clock: Column) -> bool:
    decimals = bool((value.value != np.floor(value.value)).any())
    return decimals and bool((clock.value >= MILLISECONDS).all())
