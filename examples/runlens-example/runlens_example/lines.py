"""The format `lines`: one finding a line, for grep, cut and sort."""

from collections.abc import Sequence

from runlens.diagnosis import Diagnosis


def render_all(diagnoses: Sequence[Diagnosis]) -> str:
    """Return run, severity, rule, step and title of each finding, with tabs between them."""
    rows = [
        (one.run_name, found.severity, found.rule, _step(found.onset.step), found.title)
        for one in diagnoses
        for found in one.findings
    ]
    return "".join("\t".join(_cell(cell) for cell in row) + "\n" for row in rows)


def _step(step: float | None) -> str:
    return "" if step is None else f"{step:g}"


def _cell(text: str) -> str:
    """Keep a name with tabs or line breaks in one cell: it comes from the run."""
    return "".join(char if char.isprintable() else " " for char in text)
