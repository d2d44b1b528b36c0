"""Made-up secrets of every kind, as they stand in logs and settings. None of them ever was one."""

from random import Random
from string import ascii_letters, ascii_uppercase, digits
from typing import NamedTuple

HEX = "0123456789abcdef"
ALL = ascii_letters + digits


class Planted(NamedTuple):
    """A line as somebody's log has it, and the part of it that nobody may see."""

    line: str
    secret: str


def drawn(count: int, alphabet: str = ALL, seed: int = 1) -> str:
    """Return random characters, a digit and an upper case letter among those of mixed ones."""
    text = "".join(Random(f"{seed}{count}{alphabet}").choices(alphabet, k=count - 2))
    return text + ("7Q" if alphabet == ALL else alphabet[:2])


def _bare(prefix: str, body: str) -> Planted:
    """Return a secret that is known by its form, in the midst of a line."""
    return Planted(f"using {prefix}{body} for this run", body)


def _named(line: str, secret: str) -> Planted:
    return Planted(line.replace("@@", secret), secret)


JWT = f"eyJ{drawn(20)}.eyJ{drawn(40)}.{drawn(43)}"
BODY = "\n".join(drawn(64, seed=seed) for seed in range(4))
KINDS: dict[str, Planted] = {
    "hugging face": _bare("hf_", drawn(34)),
    "hugging face, organisation": _bare("api_org_", drawn(34)),
    "openai": _bare("sk-proj-", drawn(48)),
    "openai, old": _bare("sk-", drawn(48)),
    "anthropic": _bare("sk-ant-api03-", drawn(93)),
    "openrouter": _bare("sk-or-v1-", drawn(64, HEX)),
    "groq": _bare("gsk_", drawn(52)),
    "xai": _bare("xai-", drawn(80)),
    "nvidia": _bare("nvapi-", drawn(64)),
    "replicate": _bare("r8_", drawn(37)),
    "langsmith": _bare("lsv2_pt_", f"{drawn(32, HEX)}_{drawn(10, HEX)}"),
    "w&b, variable": _named("export WANDB_API_KEY=@@", drawn(40, HEX)),
    "w&b, login": _named("$ wandb login --relogin @@", drawn(40, HEX)),
    "w&b, words": _named("wandb: using API key: @@", drawn(40, HEX)),
    "w&b, new": _bare("wandb_v1_", drawn(77)),
    "w&b, netrc": _named("machine api.wandb.ai login user password @@", drawn(40, HEX)),
    "comet": _named("COMET_API_KEY: @@", drawn(25)),
    "neptune": _bare("eyJhcGlfYWRkcmVzcyI6", drawn(120)),
    "github": _bare("ghp_", drawn(36)),
    "github, oauth": _bare("gho_", drawn(36)),
    "github, server": _bare("ghs_", drawn(36)),
    "github, fine-grained": _bare("github_pat_", f"{drawn(22)}_{drawn(59)}"),
    "gitlab": _bare("glpat-", drawn(20)),
    "npm": _bare("npm_", drawn(36)),
    "pypi": _bare("pypi-", f"AgEIcHlwaS5vcmc{drawn(80)}"),
    "docker": _bare("dckr_pat_", drawn(27)),
    "slack, bot": _bare("xoxb-", f"{drawn(12, digits)}-{drawn(12, digits)}-{drawn(24)}"),
    "slack, app": _bare("xapp-1-", f"A0{drawn(9)}-{drawn(13, digits)}-{drawn(64, HEX)}"),
    "slack, hook": _bare("https://hooks.slack.com/services/", f"T0{drawn(9)}/B0/{drawn(24)}"),
    "discord, hook": _bare("https://discord.com/api/webhooks/", f"{drawn(18, digits)}/{drawn(68)}"),
    "telegram": _named("bot @@ ready", f"{drawn(10, digits)}:{drawn(35)}"),
    "aws, key id": _bare("AKIA", drawn(16, ascii_uppercase + digits)),
    "aws, secret": _named("aws_secret_access_key = @@", drawn(40)),
    "aws, session": _named("AWS_SESSION_TOKEN=@@", drawn(120)),
    "aws, signed url": _named(
        "GET https://b.s3.amazonaws.com/a?X-Amz-Date=1&X-Amz-Signature=@@&x=1", drawn(64, HEX)
    ),
    "google": _bare("AIza", drawn(35)),
    "google, oauth": _bare("ya29.", drawn(60)),
    "google, service account": _named('"private_key_id": "@@",', drawn(40, HEX)),
    "azure, sas": _named("https://a.blob.core.windows.net/c?sv=1&sig=@@&se=2", drawn(43) + "%3D"),
    "azure, account": _named(
        "AccountName=a;AccountKey=@@;EndpointSuffix=core.windows.net", drawn(86) + "=="
    ),
    "databricks": _bare("dapi", drawn(32, HEX)),
    "alibaba": _bare("LTAI", drawn(20)),
    "digitalocean": _bare("dop_v1_", drawn(64, HEX)),
    "vault": _bare("hvs.", drawn(60)),
    "stripe": _bare("sk_live_", drawn(24)),
    "sendgrid": _bare("SG.", f"{drawn(22)}.{drawn(43)}"),
    "twilio": _bare("SK", drawn(32, HEX)),
    "mailgun": _bare("key-", drawn(32, HEX)),
    "sentry dsn": _named("https://@@@o123.ingest.sentry.io/45", drawn(32, HEX)),
    "jwt": Planted(f"cookie jar: {JWT}", JWT),
    "bearer": _named("-H 'Authorization: Bearer @@'", drawn(30)),
    "bearer, no header": _named("sent Bearer @@ to the server", drawn(30)),
    "basic": _named("{'Authorization': 'Basic @@'}", drawn(24) + "=="),
    "header": _named("X-Api-Key: @@", drawn(20)),
    "cookies": _named("Set-Cookie: session=@@; Path=/", drawn(24)),
    "password in a url": _named("postgresql://user:@@@db.local:5432/runs", "p4ss@w:rd!"),
    "password": _named("password: @@", "hunter2pass"),
    "password, quoted": _named("{'user': 'a', 'db_password': '@@', 'lr': 0.1}", "two words, 1"),
    "assignment": _named("env: MY_SERVICE_SECRET=@@ python train.py", "s3-cr3t"),
    "flag": _named("train.py --hub-token @@ --lr 1e-4", "abcdef12"),
    "flag of a list": _named("['train.py', '--api_key', '@@', '--lr', '1']", "abcdef12"),
    "argument": _named("login(token='@@', add_to_git=False)", "abcdef12"),
    "short flag": _named("serve -k @@ --port 1", drawn(40, HEX)),
    "curl": _named("curl -s -u admin:@@ https://host", "hunter2"),
    "git remote": _named("https://oauth2:@@@gitlab.com/a/b.git", drawn(20)),
    "pwd": _named("MYSQL_PWD=@@", "hunter2pw"),
    "private key": Planted(
        f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}\nab12==\n-----END RSA PRIVATE KEY-----", BODY
    ),
    "private key, in json": _named(
        '"private_key": "-----BEGIN PRIVATE KEY-----\\n@@\\n-----END PRIVATE KEY-----\\n"',
        BODY.replace("\n", "\\n"),
    ),
    "private key, its head cut off": Planted(f"{drawn(64)}\n{drawn(64, seed=9)}", drawn(64)),
}
