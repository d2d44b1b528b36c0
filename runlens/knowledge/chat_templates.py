"""Which chat template belongs to which family of models, by the names that trainers give them.

axolotl 067b021c (`chat_template`, src/axolotl/utils/schemas/enums.py) and LLaMA-Factory ff6d4d12
(`template`, src/llamafactory/data/template.py). A base model has none of its own: it takes any.
"""

from collections.abc import Mapping

from runlens.patterns import lazy_re
from runlens.run import Run

KEYS = ("chat_template", "template")
# family, as the model's name holds it -> names of its template
FAMILIES: Mapping[str, tuple[str, ...]] = {
    "llama-3": ("llama3", "llama3_2_vision", "mllama"),
    "llama-2": ("llama2", "llama2_zh"),
    "mistral": (
        "mistral", "mistral_small", "ministral", "ministral3", "pixtral", "mistral_v1",
        "mistral_v2v3", "mistral_v3_tekken", "mistral_v7_tekken",
    ),
    "gemma-2": ("gemma", "gemma2"),
    "gemma-3": ("gemma", "gemma3", "gemma3n"),
    "qwen2": ("qwen", "chatml", "qwen_25", "qwen2_vl", "qwen2_audio", "qwen2_omni"),
    "qwen3": ("qwen", "chatml", "qwen3", "qwen3_nothink", "qwen3_vl", "qwen3_vl_nothink"),
    "phi-3": ("phi", "phi_small", "phi_3", "phi_35"),
    "deepseek": (
        "deepseek", "deepseek3", "deepseekr1", "deepseekcoder", "deepseek_v2", "deepseek_v3",
    ),
}  # fmt: skip
# templates of a family; others ("default", "tokenizer_default", a path) say nothing
KNOWN = frozenset(name for names in FAMILIES.values() for name in names) | {
    "alpaca", "vicuna", "zephyr", "chatglm3", "glm4", "falcon", "yi", "llama4", "phi4",
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
