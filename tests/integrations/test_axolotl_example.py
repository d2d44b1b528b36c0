"""examples/axolotl_plugin.py: axolotl finds the plugin, and its trainer gets the callback."""

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from unittest import mock

import yaml

from runlens.integrations import transformers as integration
from tests.integrations.trainers import Arguments, State, train, transformers_installed

EXAMPLES = Path(__file__).parents[2] / "examples"


class BasePlugin:
    """The base class of axolotl's plugins: a hook that is not taken adds nothing."""

    def add_callbacks_post_trainer(self, cfg: object, trainer: object) -> list[object]:
        """Add nothing."""
        del cfg, trainer
        return []


def loaded(name: str) -> ModuleType:
    """Import a module of examples/ beside a stand-in for axolotl."""
    base = ModuleType("axolotl.integrations.base")
    vars(base)["BasePlugin"] = BasePlugin
    parents = {part: ModuleType(part) for part in ("axolotl", "axolotl.integrations")}
    spec = spec_from_file_location(name, EXAMPLES / f"{name}.py")
    assert spec
    assert spec.loader
    module = module_from_spec(spec)
    with mock.patch.dict(sys.modules, {**parents, "axolotl.integrations.base": base}):
        spec.loader.exec_module(module)
    return module


def test_the_plugin_that_the_configuration_names_writes_the_report(tmp_path: Path) -> None:
    """From the line in the YAML to the page beside the run."""
    config = yaml.safe_load((EXAMPLES / "axolotl_config.yml").read_text(encoding="utf-8"))
    module, _, plugin = config["plugins"][0].rpartition(".")
    with transformers_installed():
        vars(integration).pop("RunLensCallback", None)
        made = getattr(loaded(module), plugin)()
        assert isinstance(made, BasePlugin)
        [callback] = made.add_callbacks_post_trainer(config, trainer=None)
        train(callback, Arguments(str(tmp_path / "my-run")), State())
    vars(integration).pop("RunLensCallback", None)
    assert (tmp_path / "runlens-my-run.html").exists()
