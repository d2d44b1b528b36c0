"""The way to a rule of one's own works as it is pasted."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.docs import written


def test_the_commands_for_a_rule_in_a_file_run_in_a_new_folder(tmp_path: Path) -> None:
    """In their order, with nothing there but a run; the rule is tried, and asked."""
    shutil.copytree(written.ROOT / "fixtures/hockey-stick", tmp_path / "runs/my-run")
    (script,) = (
        block.body
        for block in written.blocks(written.DOCS / "extending.md")
        if "--new" in block.body
    )
    ran = subprocess.run(
        ["bash", "-euc", script],  # noqa: S607 - of the machine
        cwd=tmp_path,
        env=os.environ
        | {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "XDG_CONFIG_HOME": str(tmp_path / "config"),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert "my-rule: 3 of 3 drawn cases judged as drawn" in ran.stdout
    assert (tmp_path / "my_rules/my_rule.py").is_file()
