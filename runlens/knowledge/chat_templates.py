"""Which chat template belongs to which family of models, by the names that trainers give them.

axolotl 0.13 (`chat_template`, utils/chat_templates/base.py) and LLaMA-Factory 0.9 (`template`,
README, "Supported Models"). A base model has none of its own: it takes any.
"""

from collections.abc import Mapping

from runlens.patterns import lazy_re
from runlens.run import Run

KEYS = ("chat_template", "template", "conversation")
# family, as the model's name holds it -> names of its template
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llama-3": ("llama3", "llama-3", "llama3_2_vision", "llama4"),
    "llama-2": ("llama2", "llama-2", "inst"),
    "mistral": ("mistral", "inst", "ministral"),
    "gemma-2": ("gemma", "gemma2"),
    "gemma-3": ("gemma", "gemma3", "gemma3n"),
    "qwen2": ("qwen", "chatml", "qwen2_vl", "qwen_25"),
    "qwen3": ("qwen", "chatml", "qwen3"),
    "phi-3": ("phi", "phi_3", "phi3"),
    "deepseek": ("deepseek", "deepseek_v2", "deepseekcoder"),
}
# templates of a family; others ("default", "tokenizer_default", a path) say nothing
KNOWN = frozenset(name for names in FAMILIES.values() for name in names) | {
    "alpaca", "vicuna", "zephyr", "chatglm3", "glm4", "baichuan2", "internlm2", "falcon", "yi",
}  # fmt: skip
_CHAT = lazy_re(r"instruct|chat|[-_]it\b|[-_]it$")


def foreign(run: Run) -> tuple[str, str, str] | None:
    """Return (key, template, model) where a chat model is trained with another family's template.

    None where the model has no template of its own, or nothing says which one is used.
    """
    model = str(run.setting("model_name") or "").rpartition("/")[2].lower()
    plain = model.replace("_", "-").replace("llama3", "llama-3").replace("llama2", "llama-2")
    names = next((names for family, names in FAMILIES.items() if family in plain), ())
    key = next((key for key in KEYS if isinstance(run.setting(key), str)), "")
    used = str(run.setting(key)).lower() if key else ""
    if not names or not _CHAT.search(plain) or used not in KNOWN or used in names:
        return None
    return key, used, model
