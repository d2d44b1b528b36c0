"""An error of numbers that stands where the noise of its targets may."""

from pathlib import Path

from runlens import diagnose

TRAIN = (1.144, 0.902, 0.81, *(0.797 - 0.0004 * at for at in range(15)))
HELD = (1.2, 0.992, 0.899, *(0.882 - 0.0004 * at for at in range(15)))


def test_an_error_that_came_down_on_both_sets_is_a_note(tmp_path: Path) -> None:
    """Targets scatter: nobody logs by how much."""
    assert _of_plateau(tmp_path, HELD) == "info"


def test_an_error_that_came_down_in_training_alone_is_a_warning(tmp_path: Path) -> None:
    """Held-out rows gained nothing."""
    assert _of_plateau(tmp_path, tuple(1.2 + 0.001 * (at % 3) for at in range(18))) == "warning"


def test_an_error_equal_on_both_sets_is_a_warning(tmp_path: Path) -> None:
    """A constant has one error, whatever rows it is measured on."""
    assert (
        _of_plateau(tmp_path, tuple(one - 0.001 * (at % 2) for at, one in enumerate(TRAIN)))
        == "warning"
    )


def _of_plateau(folder: Path, held: tuple[float, ...]) -> str | None:
    rows = [f"{3 * at + 3},{one:.4f},{held[at]:.4f}" for at, one in enumerate(TRAIN)]
    table = folder / "mf_log.csv"
    table.write_text("\n".join(["epoch,rmse_train,rmse_test", *rows]) + "\n")
    found = {one.rule: one.severity for one in diagnose(table).findings}
    return found.get("plateau")
