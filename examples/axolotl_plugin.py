"""An axolotl plugin: the report of RunLens beside the output folder when a training ends.

Put this file where axolotl is started and name it in the YAML of the training:

    plugins:
      - axolotl_plugin.RunLensPlugin

``python -m axolotl.cli.train`` sees the current folder; with the command ``axolotl train`` add it
to the path: ``PYTHONPATH=. axolotl train config.yml``.
"""

from typing import Any

from axolotl.integrations.base import BasePlugin

from runlens.integrations.transformers import RunLensCallback


class RunLensPlugin(BasePlugin):
    """Adds RunLens' callback to whichever trainer axolotl builds (SFT, DPO, GRPO...)."""

    def add_callbacks_post_trainer(self, cfg: Any, trainer: Any) -> list[Any]:
        """Return the callbacks that the trainer gets when it is built."""
        del cfg, trainer
        return [RunLensCallback()]
