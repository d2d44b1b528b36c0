"""What may be set in runlens.toml, and what a mistake there says."""

import re
from datetime import date, timedelta
from pathlib import Path

import pytest

from runlens import diagnose
from runlens.errors import BadSettings
from runlens.settings import find, load
from runlens.silences import unused

FIXTURES = Path(__file__).parents[1] / "fixtures"


def written(folder: Path, text: str, name: str = "runlens.toml") -> Path:
    """Write a settings file."""
    path = folder / name
    path.write_text(text)
    return path


def test_nearest_file_counts(tmp_path: Path) -> None:
    """A pyproject.toml only where it has a table for RunLens."""
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert find(inner) is None or not find(inner).is_relative_to(tmp_path)  # type: ignore[union-attr]
    outer = written(tmp_path, "ignore = []")
    written(tmp_path / "a", "[project]\nname = 'x'\n", "pyproject.toml")
    assert find(inner) == outer
    mine = written(tmp_path / "a", "[tool.runlens]\nignore = ['plateau']\n", "pyproject.toml")
    assert find(inner) == mine
    assert load(mine).ignore == ("plateau",)


def test_ignored_rules_are_not_asked_and_selected_ones_alone(tmp_path: Path) -> None:
    """Neither found nor listed as passed."""
    ignoring = load(written(tmp_path, "ignore = ['hockey-stick']"))
    assert "hockey-stick" not in diagnose(FIXTURES / "hockey-stick", settings=ignoring).outcomes
    alone = load(written(tmp_path, "select = ['hockey-stick']"))
    assert set(diagnose(FIXTURES / "hockey-stick", settings=alone).outcomes) == {"hockey-stick"}


def test_columns_reach_the_readers(tmp_path: Path) -> None:
    """Where a place is diagnosed with these settings; blanks around a name are none of it."""
    settings = load(written(tmp_path, "[columns]\nstep = ' it '\ntrain_loss = 'mine'\n"))
    assert settings.columns == {"step": "it", "train_loss": "mine"}
    rows = "".join(f"{n},{3 - n / 50}\n" for n in range(100))
    table = written(tmp_path, f"it,mine\n{rows}", "own.csv")
    assert diagnose(table, settings=settings).curves["train_loss"].step[-1] == 99


def test_limits_and_severity_reach_the_rule(tmp_path: Path) -> None:
    """A rise of 21 % is none at a limit of 50 %; and a rule may be made quieter."""
    strict = load(written(tmp_path, "[limits.hockey-stick]\nrise = 0.5\n"))
    diagnosis = diagnose(FIXTURES / "hockey-stick", settings=strict)
    assert diagnosis.outcomes["hockey-stick"].status == "passed"
    quiet = load(written(tmp_path, "[severity]\nhockey-stick = 'info'\n"))
    found = {
        f.rule: f.severity for f in diagnose(FIXTURES / "hockey-stick", settings=quiet).findings
    }
    assert found["hockey-stick"] == "info"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slect = []", "unknown key: 'slect'; did you mean 'select'?"),
        ("ignore = ['hokey-stick']", "did you mean 'hockey-stick'?"),
        ("ignore = 'plateau'", "ignore takes a list"),
        ("columns = 'loss'", "columns take a table"),
        ("[columns]\nstep = 1", "column step is 1; it takes the name in the file"),
        ("[columns]\nstep = ' '", "column step is ' '"),
        ("[columns]\na = 'x'\nb = 'x'", "column 'x' is said to be both a and b"),
        ("[column]\na = 'x'", "did you mean 'columns'?"),
        ("[severity]\nplateau = 'loud'", "severity of plateau is 'loud'"),
        ("[limits.hockey-stick]\nrize = 1", "unknown limit of hockey-stick: 'rize'; did you mean"),
        ("[limits.hockey-stick]\nrise = 'x'", "takes a number"),
        ("limits = 3", "limits takes a table"),
        ("preview = 1", "preview takes true or false"),
        ("=", "is no TOML"),
        (
            "[limits.hidden-nan]\nfewest = nan",
            "limit fewest of hidden-nan is nan; it takes a number",
        ),
        (
            "[limits.hidden-nan]\nfewest = inf",
            "limit fewest of hidden-nan is inf; it takes a number",
        ),
        (f"[limits.hockey-stick]\nrise = 1{400 * '0'}", "limit rise of hockey-stick is 1000"),
        (f"[audit]\ngpu_hour_price = 1{400 * '0'}", "gpu_hour_price is 1000"),
        ("[audit]\ngpu_hour_price = inf", "gpu_hour_price is inf"),
        (f"[limits.hockey-stick]\nrise = {5_000 * '9'}", "is no TOML: Exceeds the limit"),
        (f"[severity]\nplateau = 0x{5_000 * 'f'}", "Exceeds the limit"),
        ("a = " + 3_000 * "[" + 3_000 * "]", "is no TOML: maximum recursion depth"),
    ],
)
def test_a_mistake_is_one_line_that_names_file_and_key(
    tmp_path: Path, text: str, said: str
) -> None:
    """And suggests the nearest that exists."""
    path = written(tmp_path, text)
    with pytest.raises(BadSettings) as caught:
        load(path)
    assert said in str(caught.value)
    assert str(path) in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [("tool = 3  # tool.runlens", "[tool] is 3; it takes a table"),
     ("[[tool]]  # tool.runlens", "[tool] is [{}]; it takes a table"),
     ("[tool]\nrunlens = 3  # tool.runlens", "[tool.runlens] is 3; it takes a table"),
     ("tool.runlens = [1]", "[tool.runlens] is [1]; it takes a table")],
)  # fmt: skip
def test_an_odd_table_of_a_project_is_one_line(tmp_path: Path, text: str, said: str) -> None:
    """It names the file, as any mistake does."""
    path = written(tmp_path, text, "pyproject.toml")
    assert find(tmp_path) == path
    with pytest.raises(BadSettings, match=re.escape(f"{path}: {said}")):
        load(path)


def test_a_project_file_of_another_encoding_is_passed_over(tmp_path: Path) -> None:
    """It ended every command below it; where it speaks of RunLens it is told."""
    outer = written(tmp_path, "")
    (tmp_path / "a").mkdir()
    other = tmp_path / "a" / "pyproject.toml"
    other.write_bytes('[project]\nauthors = "Jos\xe9"'.encode("latin-1"))
    assert find(tmp_path / "a") == outer
    other.write_bytes("[tool.runlens]\n# Jos\xe9".encode("latin-1"))
    with pytest.raises(BadSettings, match="cannot be read"):
        load(find(tmp_path / "a"))


SILENCE = """
[[silence]]
rule = "hockey-stick"
reason = "the set is small; ticket 12"
until = 2026-10-31
"""
DAY = date(2026, 10, 31)


def test_a_silenced_finding_is_an_info_with_its_reason(tmp_path: Path) -> None:
    """It is still told; on its last day the silence still holds."""
    settings = load(written(tmp_path, SILENCE), DAY)
    found = {f.rule: f for f in diagnose(FIXTURES / "hockey-stick", settings=settings).findings}
    assert found["hockey-stick"].severity == "info"
    assert found["hockey-stick"].seen.startswith(
        "Silenced until 2026-10-31: the set is small; ticket 12."
    )


def test_a_silence_that_is_over_holds_no_longer(tmp_path: Path) -> None:
    """The settings keep it apart, so that it can be said."""
    settings = load(written(tmp_path, SILENCE), DAY + timedelta(days=1))
    assert settings.silences == ()
    assert [str(one) for one in settings.ended] == ["silence of hockey-stick until 2026-10-31"]
    found = {f.rule: f for f in diagnose(FIXTURES / "hockey-stick", settings=settings).findings}
    assert found["hockey-stick"].severity != "info"


def test_a_silence_may_be_of_some_runs_alone(tmp_path: Path) -> None:
    """By their names; what met nothing is told as unused."""
    settings = load(written(tmp_path, SILENCE + 'runs = "nightly-*"\n'), DAY)
    made = diagnose(FIXTURES / "hockey-stick", settings=settings)
    assert {f.severity for f in made.findings if f.rule == "hockey-stick"} != {"info"}
    assert unused(settings.silences, [made]) == list(settings.silences)
    assert unused(load(written(tmp_path, SILENCE), DAY).silences, [made]) == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("silence = 3", "silence takes tables"),
        ("[[silence]]\nrule = 'hockeystick'", "unknown rule in silence: 'hockeystick'"),
        ("[[silence]]\nrule = 'plateau'\nuntil = 2026-01-01", "plateau needs a reason"),
        ("[[silence]]\nrule = 'plateau'\nreason = 'x'", "needs its last day"),
        (
            "[[silence]]\nrule = 'plateau'\nreason = 'x'\nuntil = 2026-01-01T00:00:00",
            "needs its last day",
        ),
        (
            "[[silence]]\nrule = 'plateau'\nreason = 'x'\nuntil = 2026-01-01\nruns = 3",
            "takes a name",
        ),
        ("[[silence]]\nrul = 'plateau'", "unknown key of a silence: 'rul'; did you mean 'rule'"),
    ],
)
def test_a_mistake_in_a_silence_is_said(text: str, said: str, tmp_path: Path) -> None:
    """With the rule or the key at fault."""
    with pytest.raises(BadSettings, match=re.escape(said)):
        load(written(tmp_path, text))


def test_the_audit_has_a_price_and_rules_of_its_own(tmp_path: Path) -> None:
    """Rules over several runs are set as the others; `diagnose` takes the same file."""
    text = "ignore = ['duplicate']\n[limits.outlier]\nfewest = 8\n[audit]\ngpu_hour_price = 2.5\n"
    settings = load(written(tmp_path, text))
    assert settings.gpu_hour_price == 2.5
    asked = {rule.slug: rule.limits for rule in settings.cross_rules()}
    assert "duplicate" not in asked
    assert asked["outlier"].fewest == 8
    assert diagnose(FIXTURES / "hockey-stick", settings=settings).findings


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[audit]\ngpu_price = 2", "unknown key of audit: 'gpu_price'"),
        ("[audit]\ngpu_hour_price = 'dear'", "gpu_hour_price is 'dear'"),
        ("[audit]\ngpu_hour_price = -1", "gpu_hour_price is -1"),
        ("audit = 3", "audit takes a table"),
    ],
)
def test_a_mistake_in_the_audit_is_said(text: str, said: str, tmp_path: Path) -> None:
    """With what it takes."""
    with pytest.raises(BadSettings, match=re.escape(said)):
        load(written(tmp_path, text))
