"""Keys and tokens that stand in settings, command lines and logs are never shown or kept."""

import re

from runlens.run import Setting

MASKED = "(hidden)"
# a name that says what it holds; "tokens" and "tokenizer" are no secrets
_NAMES = re.compile(
    r"(api_?key|secret|passw(or)?d|(auth|access|hf|hub|wandb|bearer)_?token|credential)",
    re.IGNORECASE,
)
# values that show what they are: Hugging Face, GitHub, OpenAI, AWS
_VALUES = re.compile(
    r"\b(hf_[A-Za-z0-9]{20,}|gh[pousr]_[A-Za-z0-9]{30,}|sk-[A-Za-z0-9_-]{20,}|AKIA[A-Z0-9]{16})\b"
)
_FLAGS = re.compile(
    r"(--?[\w-]{0,60}(?:key|token|secret|password)[ =])(?!\d+\b)(\S+)", re.IGNORECASE
)


def without_secrets(name: str, value: Setting) -> Setting:
    """Return a setting with what looks like a key or token masked."""
    if not isinstance(value, str):
        return value
    if _NAMES.search(name) and value:
        return MASKED
    return masked(value)


def masked(text: str) -> str:
    """Return a line with tokens, and what follows a flag such as ``--api_key``, masked."""
    return _FLAGS.sub(rf"\1{MASKED}", _VALUES.sub(MASKED, text))
