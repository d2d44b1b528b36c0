"""Which names of settings, variables and flags say that their value is a secret.

Training has many tokens, keys and passes that are none: `pad_token`, `max_tokens`, `prompt_key`,
`pass@1`. So a name is taken apart into words, and what it says is graded.
"""

import re
from functools import lru_cache
from itertools import pairwise
from math import log2
from typing import Literal

from runlens.patterns import lazy_re

Says = Literal["secret", "perhaps", "nothing"]

_WORDS = lazy_re(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
MOST_PARTS = 3  # of a dotted name: "hub.auth.token"
# a word that alone says so, also as the end of a word: PGPASSWORD, clientsecret
_ENDS = (
    "password", "passwd", "passphrase", "passcode", "secret", "apikey", "apitoken", "accesskey",
    "secretkey", "privatekey", "authkey", "authtoken", "accesstoken", "refreshtoken",
    "bearertoken", "hftoken", "hubtoken", "wandbkey", "sshpass",
)  # fmt: skip
_ALONE = frozenset(
    ("passwords", "secrets", "credential", "credentials", "creds", "apikeys", "dsn", "cookie",
     "cookies", "authorization", "bearer", "pwd", "sessionid", "phpsessid", "jsessionid",
     "csrftoken")
)  # fmt: skip
_KEY_OF = frozenset(
    ("api", "secret", "private", "access", "account", "auth", "ssh", "signing", "encryption",
     "storage", "subscription", "master", "admin", "client", "consumer", "app", "application",
     "deploy", "service", "license", "session", "project",
     "wandb", "comet", "neptune", "openai", "anthropic", "hf", "huggingface", "swanlab", "mlflow",
     "clearml", "replicate", "cohere", "groq", "mistral", "together", "deepseek", "dashscope",
     "gemini", "google", "azure", "aws", "gcp", "s3", "gs", "r2", "serper", "serpapi", "tavily",
     "pinecone", "langchain", "langsmith", "runpod", "vast", "modal", "kaggle", "sentry",
     "datadog", "dd", "newrelic", "stripe", "twilio", "sendgrid", "mailgun")
)  # fmt: skip
_TOKEN_OF = _KEY_OF | frozenset(
    ("refresh", "bearer", "hub", "face", "github", "gh", "gitlab", "git", "slack", "bot",
     "telegram", "oauth", "jwt", "csrf", "xsrf", "npm", "pypi", "personal", "security", "login")
)  # fmt: skip
_PASS_OF = frozenset(
    ("db", "database", "user", "smtp", "mail", "mysql", "postgres", "pg", "redis", "ftp", "login",
     "admin", "root", "sudo", "ssh", "http", "proxy", "my")
)  # fmt: skip
_PERHAPS = frozenset(("key", "keys", "token", "auth", "sig", "signature", "pass", "k"))
# a key or token that is one of data, of a vocabulary, of attention
_OF_DATA = frozenset(
    ("cache", "hash", "sort", "primary", "partition", "foreign", "dedup", "group", "state", "dict",
     "prompt", "input", "label", "text", "image", "column", "dataset", "config", "metric", "query",
     "pad", "eos", "bos", "unk", "sep", "cls", "mask", "video", "audio", "special", "stop", "next",
     "per", "num", "max", "min", "new", "vision", "speech", "think", "start", "end", "forward",
     "backward", "first", "last", "single", "multi")
)  # fmt: skip
# what such a name is about when it ends so: a file, a size, a kind
_ABOUT = frozenset(
    ("file", "files", "path", "paths", "dir", "folder", "name", "names", "id", "ids", "type",
     "types", "size", "len", "length", "dim", "count", "num", "uri", "endpoint", "level",
     "loss", "weight", "weights", "prob", "rate", "mean", "sum", "std", "ratio", "index", "idx",
     "position", "env", "var", "field", "column", "col", "format", "mode", "policy", "ttl",
     "expiry", "expires", "timeout", "helper", "store", "provider", "manager", "scheme", "scopes",
     "error", "required", "enabled", "jar")
)  # fmt: skip
_NO_VALUE = lazy_re(
    r"""[*.\-_#x•\s]*|\$\{?[A-Z_][A-Z0-9_]*\}?|<[^<>]*>|\[[A-Z]+\]|\(hidden\)?.*|\[?<?redacted.*
    |os\.(?:environ|getenv).*|env:.*|none|null|nil|true|false|yes|no|nan|undefined|unset|default
    |auto|on|off|required|missing|invalid|empty|optional\b.*|str(?:ing)?|int(?:eger)?|bool|\d""",
    re.IGNORECASE | re.VERBOSE,
)
_A_PATH = lazy_re(r"(?:~|\.{1,2})?/[^\s:@]*|[A-Za-z]:[\\/].*")
_HOLDS_PATHS = frozenset(("pwd", "credential", "credentials", "cookie", "cookies", "creds"))
_OPAQUE = lazy_re(r"[A-Za-z0-9_\-+/=]{20,200}")
_HEX = lazy_re(r"[0-9a-f]{32,128}")
_SHORT = lazy_re(r"(?=.*\d)(?=.*[A-Za-z])[\w\-+/=~]{8,200}")  # enough for a token
LEAST_BITS = 3.3  # of entropy a character: names made of words have about 3, random ones 4
MOST_JOINTS = 2  # of - and _ and /: more join words


def says(name: str) -> Says:
    """Return what a name says of its value: ``wandb.api_key`` a secret, ``max_tokens`` nothing."""
    return _graded(".".join(name.split(".")[-MOST_PARTS:])[-120:])


@lru_cache(maxsize=20_000)
def _graded(name: str) -> Says:
    words = [word.lower() for word in _WORDS.findall(name)]
    while words and words[-1].isdigit():  # the second of several
        words.pop()
    if not words or (words[-1] in _ABOUT and words[-3:] != ["private", "key", "id"]):
        return "nothing"
    if any(word in _ALONE or word.endswith(_ENDS) for word in words):
        return "secret"
    if any(_pair(one, other) for one, other in pairwise(words)):
        return "secret"
    if words[-1] not in _PERHAPS or _OF_DATA.intersection(words):
        return "nothing"
    return "perhaps"


def _pair(one: str, other: str) -> bool:
    return (
        (other in {"key", "keys"} and one in _KEY_OF)
        or (other == "token" and one in _TOKEN_OF)
        or (other == "tokens" and one in {"api", "auth", "access", "refresh", "bearer"})
        or (other == "pass" and one in _PASS_OF)
    )


def is_secret(name: str, value: str) -> bool:
    """Whether a name says that this value is a secret, and it is not a word for none."""
    grade = says(name)
    if grade == "nothing" or _NO_VALUE.fullmatch(value.strip()):
        return False
    if grade == "perhaps":
        short = name.lower().endswith("token") and _SHORT.fullmatch(value) is not None
        return short or random_looking(value)
    return not (_A_PATH.fullmatch(value) and _HOLDS_PATHS.intersection(name.lower().split("_")))


def random_looking(value: str) -> bool:
    """Whether a value is made of random characters, as no path, name or number is."""
    if _HEX.fullmatch(value):
        return True
    if not _OPAQUE.fullmatch(value) or sum(map(value.count, "-_/")) > MOST_JOINTS:
        return False
    kinds = sum(any(map(kind, value)) for kind in (str.islower, str.isupper, str.isdigit))
    return kinds > 1 and any(map(str.isdigit, value)) and _bits(value) >= LEAST_BITS


def _bits(value: str) -> float:
    """Return the entropy of a text in bits a character."""
    shares = [value.count(char) / len(value) for char in set(value)]
    return -sum(share * log2(share) for share in shares)
