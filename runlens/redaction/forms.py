"""Forms by which a secret is known wherever it stands: prefix, alphabet, length.

They are facts that the services publish, or that scanners of repositories (gitleaks, GitHub's own
secret scanning) look for. A row is cheap where its mark is not in a text.
"""

from functools import cache
from re import Pattern, compile  # noqa: A004 - `re` itself is not used here

from runlens.records import NamedTuple

HIDDEN = "s"  # name of the group that is hidden; the whole match where a form has none
_W = "[A-Za-z0-9_-]"
_AN = "[A-Za-z0-9]"
_HEX = "[0-9a-f]"
_RANDOM = f"(?={_W}{{0,80}}[0-9A-Z])"  # words of a name are all lower case letters
# up to a quote that closes: one that opens belongs to what follows, which may be a secret as well
_REST = r"""(?:[^"'\\\n]|(?<=[=(\[{, :])["'])*"""
_TO_END = rf"""(?P<s>[^\s"'\\]{_REST})"""


class Form(NamedTuple):
    """One kind of secret, and what it looks like."""

    kind: str
    marks: str  # parted by spaces; one of them must occur, in lower case
    pattern: str
    alone: bool = True  # nothing of a word stands before it


FORMS = (
    # models and data
    Form("Hugging Face", "hf_", f"hf_{_AN}{{20,}}"),
    Form("Hugging Face, organisation", "api_org_", f"api_org_{_AN}{{20,}}"),
    Form("W&B, 86 characters", "wandb_v1_", f"wandb_v1_{_W}{{20,}}"),
    Form("W&B, own server", "local-", f"local-{_HEX}{{40}}"),
    Form("W&B, login", "wandb", r"wandb(?: |\.)login\b[^\n]{0,80}?(?P<s>\b[0-9a-f]{40}\b)"),
    Form("OpenAI, Anthropic, DeepSeek, OpenRouter", "sk-", f"sk-{_RANDOM}{_W}{{20,}}"),
    Form("Groq", "gsk_", f"gsk_{_AN}{{40,}}"),
    Form("xAI", "xai-", f"xai-{_RANDOM}{_W}{{60,}}"),
    Form("Perplexity", "pplx-", f"pplx-{_RANDOM}{_W}{{40,}}"),
    Form("Fireworks", "fw_", f"fw_{_RANDOM}{_AN}{{20,}}"),
    Form("Together", "tgp_v1_", f"tgp_v1_{_W}{{40,}}"),
    Form("NVIDIA", "nvapi-", f"nvapi-{_W}{{60,}}"),
    Form("Replicate", "r8_", f"r8_{_AN}{{37,}}"),
    Form("Jina", "jina_", f"jina_{_RANDOM}{_W}{{40,}}"),
    Form("Tavily", "tvly-", f"tvly-{_RANDOM}{_W}{{20,}}"),
    Form("Pinecone", "pcsk_", "pcsk_[A-Za-z0-9_]{40,}"),
    Form("LangSmith", "lsv2_", f"lsv2_(?:pt|sk)_{_HEX}{{32}}_{_HEX}{{10}}"),
    Form("RunPod", "rpa_", "rpa_[A-Z0-9]{40,}"),
    Form("Kaggle", "kgat_", f"KGAT_{_HEX}{{32}}"),
    Form("Modal", "as-", f"as-{_RANDOM}{_AN}{{22}}\\b"),
    Form("ModelScope", "ms-", rf"ms-{_HEX}{{8}}(?:-{_HEX}{{4}}){{3}}-{_HEX}{{12}}"),
    # code and packages
    Form("GitHub", "ghp_ gho_ ghs_ ghu_ ghr_", "gh[opsur]_[A-Za-z0-9]{30,}"),
    Form("GitHub, fine-grained", "github_pat_", "github_pat_[A-Za-z0-9_]{22,}"),
    Form(
        "GitLab",
        "glpat- gldt- glrt- glrtr- glptt- glcbt- glft- glsoat- glimt- glagent- glffct- gloas-",
        f"gl(?:pat|dt|rt|rtr|ptt|cbt|ft|soat|imt|agent|ffct|oas)-{_W}{{20,}}",
    ),
    Form("GitLab, runner", "gr1348941", f"GR1348941{_W}{{20,}}"),
    Form("Atlassian", "atatt3", "ATATT3[A-Za-z0-9_=-]{60,}"),
    Form("Bitbucket", "atbb", "ATBB[A-Za-z0-9_=-]{28,}"),
    Form("npm", "npm_", f"npm_{_AN}{{36,}}"),
    Form("PyPI", "pypi-", f"pypi-{_W}{{50,}}"),
    Form("Docker Hub", "dckr_pat_", f"dckr_pat_{_W}{{27,}}"),
    Form("RubyGems", "rubygems_", f"rubygems_{_HEX}{{48}}"),
    # clouds
    Form("AWS, key id", "akia asia abia acca", "(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}"),
    Form("Google", "aiza", f"AIza{_W}{{35}}"),
    Form("Google, OAuth", "ya29.", r"ya29\.[A-Za-z0-9_.-]{20,}"),
    Form("Google, client", "gocspx-", f"GOCSPX-{_W}{{28}}"),
    Form("Azure, shared access", "sig=", r"[?&;]sig=(?P<s>[A-Za-z0-9%+/=_-]{20,})", alone=False),
    Form(
        "signed URL",
        "x-amz- x-goog- x-oss-",
        r"(?i)X-(?:Amz|Goog|Oss)-(?:Signature|Credential|Security-Token)=(?P<s>[^&\s\"']{8,})",
        alone=False,
    ),
    Form("Alibaba", "ltai", "LTAI[A-Za-z0-9]{12,}"),
    Form("Tencent", "akid", "AKID[A-Za-z0-9]{32,}"),
    Form("Volcengine", "aklt", f"AKLT{_W}{{40,}}"),
    Form("Databricks", "dapi", f"dapi{_HEX}{{32}}(?:-\\d)?"),
    Form("DigitalOcean", "doo_v1_ dop_v1_ dor_v1_", f"do[opr]_v1_{_HEX}{{64}}"),
    Form("Fly.io", "fm2_", r"fm2_[A-Za-z0-9+/=_-]{60,}"),
    Form("Pulumi", "pul-", f"pul-{_HEX}{{40}}"),
    Form("Terraform", "atlasv1", r"[A-Za-z0-9]{14}\.atlasv1\.[A-Za-z0-9_=-]{60,}"),
    Form("Vault", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
    Form("Doppler", "dp.", r"dp\.[a-z]{2,5}\.[A-Za-z0-9]{40,}"),
    Form("Prefect", "pnu_ pnb_", f"pn[ub]_{_AN}{{36}}"),
    Form("Supabase", "sbp_ sb_secret_", f"(?:sbp_{_HEX}{{40}}|sb_secret_{_W}{{20,}})"),
    Form("PlanetScale", "pscale_", r"pscale_(?:tkn|pw|oauth)_[\w.=-]{32,}"),
    Form("age", "age-secret-key-", "AGE-SECRET-KEY-1[A-Z0-9]{58}"),
    # messages, money, watching
    Form("Slack", "xox", f"xox[abeoprs][.-](?:xox[bp]-)?{_RANDOM}{_W}{{10,}}"),
    Form("Slack, app", "xapp-", f"xapp-\\d-{_W}{{20,}}"),
    Form(
        "Slack, hook", "hooks.slack.com", r"hooks\.slack\.com/[a-z]+/(?P<s>[A-Za-z0-9+/]{20,})"
    ),
    Form("Discord, hook", "/api/webhooks/", r"/api/webhooks/(?P<s>\d+/[\w-]{20,})", alone=False),
    Form("Discord, bot", ".", r"[MNO][A-Za-z0-9_-]{23,25}\.[\w-]{6}\.[\w-]{27,38}"),
    Form("Teams, hook", "webhook.office.com", r"webhook\.office\.com/(?P<s>\S{20,})", alone=False),
    Form("Feishu, hook", "/bot/v2/hook/", r"/bot/v2/hook/(?P<s>[\w-]{20,})", alone=False),
    Form("Telegram", ":", rf"(?:bot)?\d{{8,10}}:{_W}{{35}}(?![\w-])"),
    Form("Twilio", "sk", f"SK{_HEX}{{32}}"),
    Form("SendGrid", "sg.", rf"SG\.{_W}{{16,}}\.{_W}{{16,}}"),
    Form("Mailgun", "key-", f"key-{_HEX}{{32}}"),
    Form("Mailchimp", "-us", f"{_HEX}{{32}}-us\\d{{1,2}}"),
    Form("Stripe", "_live_ _test_ _prod_", "(?:[rs]k)_(?:live|test|prod)_[A-Za-z0-9]{10,}"),
    Form("Stripe, hook", "whsec_", "whsec_[A-Za-z0-9+/=]{24,}"),
    Form("Shopify", "shpat_ shpca_ shppa_ shpss_", "shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"),
    Form("Square", "sq0", f"sq0(?:atp|csp)-{_W}{{22,}}"),
    Form("Linear", "lin_api_", f"lin_api_{_AN}{{40}}"),
    Form("Notion", "ntn_", f"ntn_{_AN}{{40,}}"),
    Form("Airtable", "pat", rf"pat{_AN}{{14}}\.{_HEX}{{64}}"),
    Form("Postman", "pmak-", f"PMAK-{_HEX}{{24}}-{_HEX}{{34}}"),
    Form("New Relic", "nrak- nraa-", "NRA[AK]-[A-Z0-9]{27}"),
    Form("Grafana", "glsa_ glc_", rf"(?:glsa_{_AN}{{32}}_{_HEX}{{8}}|glc_eyJ{_W}{{20,}})"),
    Form("Sentry", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9_+/=-]{40,}"),
    # what no service owns
    Form("JSON Web Token", "eyj", r"eyJ[\w-]{10,}\.eyJ[\w-]{10,}(?:\.[\w-]*)?"),
    Form(
        "Neptune; the head of a JSON Web Token",  # {"api_..., {"alg":, {"typ":, {"kid":, {"enc":
        "eyj",
        r"eyJ(?:hcGlf|hbGci|0eXAi|raWQi|lbmMi)[\w.=+/-]{12,}",
    ),
    Form("Bearer", "bearer", r"(?i)bearer\s+(?P<s>(?=[^\s\"']{0,80}\d)[\w.+/=~-]{12,})"),
    Form(
        "Basic",
        "basic",
        r"[Bb]asic\s+(?P<s>(?=[A-Za-z0-9+/]{0,80}[0-9A-Z])[A-Za-z0-9+/]{12,}={0,2})(?!\w)",
    ),
    Form("header", "authorization", rf"(?i)authorization[\"']?\s*[:=]\s*[\"']?{_TO_END}"),
    Form("cookies", "cookie", r"(?i)(?<![\"'\w-])(?:set-)?cookie\s*:\s*(?P<s>[\w.-]+=[^\n]*)"),
    Form("cookies in quotes", "cookie", rf"(?i)cookie[\"']?\s*:\s*[\"']?(?P<s>[\w.-]+={_REST})"),
    Form(
        "password in a URL",
        "://",
        r"://[^\s/:@\"'<>]*:(?P<s>[^\s/\"'<>]+)@(?=[\w\[])",
        alone=False,
    ),
    Form(
        "key in a URL",
        "://",
        rf"://(?P<s>(?=[^\s/@:]{{0,80}}\d){_W}{{16,}})@(?=[\w\[])",
        alone=False,
    ),
    Form(".netrc", "password", r"login\s+\S+\s+password\s+(?P<s>\S+)"),
    Form(
        "curl -u",
        "curl",
        r"curl\b[^\n]{0,300}?\s(?:-u|--user)[\s=]+[\"']?[^\s:\"']+:(?P<s>[^\s\"']+)",
    ),
    Form(
        "a key told in words",
        "api access secret auth",
        r"(?i)(?:api|access|secret|auth)[ _-]key(?:\s+(?:is|was|for\s\w+))?\W{1,6}"
        rf"(?P<s>(?={_W}{{0,80}}\d){_W}{{20,}})",
    ),
)  # fmt: skip
PEM = (
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----"
    r"(?:(?:\\+[rn]|\s|[^\S\n]*\[?[\w ]{1,12}\]?:\s)*[A-Za-z0-9+/=]{16,})*"
    r"(?:(?:\\+[rn]|\s)*[A-Za-z0-9+/=]{1,15}(?=(?:\\+[rn]|\s)*-----))?"
    r"(?:(?:\\+[rn]|\s)*-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----)?"
)
PEM_MARK = "private key"
# a line of a key whose head is not here: base64 of 60 characters, which no path and no hash is
BASE64 = r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{60,}={0,2}"


@cache
def compiled(pattern: str, *, alone: bool) -> Pattern[str]:
    """Return a form as a pattern, compiled when a text first has its mark."""
    return compile(f"(?<![A-Za-z0-9]){_flagless(pattern)}" if alone else pattern)


def _flagless(pattern: str) -> str:
    """Return a pattern that may stand behind a look-behind: flags hold for the part alone."""
    return f"(?i:{pattern.removeprefix('(?i)')})" if pattern.startswith("(?i)") else pattern
