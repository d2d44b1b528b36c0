"""Settings of RunLens itself: `runlens.toml`, or `[tool.runlens]` in `pyproject.toml`.

The nearest file upwards of the current folder counts; it is never looked for inside a run.

    select = ["hockey-stick", "nan-loss"]     # only these rules
    ignore = ["epoch-staircase"]              # all but these
    preview = false                           # rules that are still on trial
    rules = ["my_rules/*.py"]                 # rules of your own, from this folder on

    [severity]
    clip-saturation = "info"                  # how loud a rule may be at most

    [limits.hockey-stick]
    rise = 0.10                               # see: runlens rules hockey-stick

    [[silence]]                               # what is known, told as an info until that day
    rule = "clip-saturation"
    reason = "the norm is logged before scaling"
    until = 2027-01-31
    runs = "nightly-*"                        # run names; all where left out

    [columns]                                 # of tables and logs that RunLens cannot know
    step = "iteration"                        # step, epoch, time: what says when
    train_loss = "my_loss"                    # a metric of `runlens`, or a name of your own
    eval_loss = "dev/nll"                     # in JSON, the path of an inner value

    [audit]
    gpu_hour_price = 2.5                      # what is lost after an onset, in your currency

    [[audit.routes]]                          # a message of these runs alone
    users = ["anna", "ben"]                   # as the tracker has them; tags and places likewise
    notify = "$SLACK_SFT"                     # an address, or the variable that holds it

Rules over several runs (`outlier`, `regression`, ...) are ignored, lowered and limited as the
others; silences are for findings of single runs. Where no file is found, `runlens.toml` in the
user's own configuration folder counts. A file of another user, or within what is read, is not used,
and files of rules are code: see `runlens.trust`.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from math import inf, isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from runlens.added_rules import Added, added
from runlens.diagnosis import SEVERITIES, Finding, Severity
from runlens.errors import BadSettings, nearest, one_line
from runlens.records import NamedTuple
from runlens.rule_files import LOST, files_of
from runlens.rules import LISTED
from runlens.rules.rule import Asked, Listed, limited, loaded, values
from runlens.run import Problem
from runlens.silences import Silence, parsed, quietened
from runlens.trust import is_trusted, own_folder, what_to_do, why_not_run, why_not_used

if TYPE_CHECKING:
    from runlens.crossrun.rule import CrossFinding, CrossRule

NAMES = ("runlens.toml", "pyproject.toml")
KEYS = ("select", "ignore", "preview", "rules", "severity", "limits", "silence", "columns", "audit")
LONGEST = 40  # characters of a value that a message repeats
OF_AUDIT = ("gpu_hour_price", "routes")
OF_ROUTE = ("users", "tags", "places", "notify")


class Route(NamedTuple):
    """Who is told of which runs: those of these users, tags, or places and groups (globs)."""

    notify: str
    users: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """What may be set."""

    select: tuple[str, ...] = ()  # empty: all
    ignore: tuple[str, ...] = ()
    preview: bool = False
    severity: Mapping[str, Severity] = field(default_factory=dict)  # the loudest allowed, by rule
    limits: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)  # by rule
    columns: Mapping[str, str] = field(default_factory=dict)  # our name -> that in the file
    silences: tuple[Silence, ...] = ()
    ended: tuple[Silence, ...] = ()  # silences whose last day is over
    gpu_hour_price: float | None = None
    rule_files: tuple[str, ...] = ()  # rules of the user's own
    problems: tuple[Problem, ...] = ()  # of these settings
    routes: tuple[Route, ...] = ()  # of messages

    def added(self) -> Added:
        """Return the rules of installed packages and of the user's own files."""
        return added(self.rule_files)

    def all_problems(self) -> tuple[Problem, ...]:
        """Return what is wrong with the settings and with the rules that were added."""
        return (*self.problems, *self.added().problems)

    def rules(self, rules: Iterable[Asked] | None = None) -> list[Asked]:
        """Return those of `rules` (all that are known) that are asked, with their limits as set."""
        known: Iterable[Asked] = (*LISTED, *self.added().rules) if rules is None else rules
        return [
            self._limited(rule)
            for rule in known
            if (not self.select or rule.slug in self.select) and rule.slug not in self.ignore
        ]

    def _limited(self, rule: Asked) -> Asked:
        if rule.slug not in self.limits:
            return rule
        whole = loaded(rule)
        return replace(whole, limits=limited(whole.limits, self.limits[rule.slug]))

    def cross_rules(self) -> "list[CrossRule[Any]]":
        """Return the rules over several runs that are asked, with their limits as set."""
        from runlens.crossrun import CROSS_RULES

        return [
            replace(rule, limits=limited(rule.limits, self.limits.get(rule.slug, {})))
            for rule in CROSS_RULES
            if (not self.select or rule.slug in self.select) and rule.slug not in self.ignore
        ]

    def lowered_crossed(self, finding: "CrossFinding") -> "CrossFinding":
        """Return a finding over several runs no louder than its rule may be."""
        most = self.severity.get(finding.rule)
        if most and SEVERITIES.index(finding.severity) < SEVERITIES.index(most):
            return finding._replace(severity=most)
        return finding

    def lowered(self, finding: Finding, run: str = "") -> Finding:
        """Return a finding no louder than its rule may be in the run of this name."""
        finding = quietened(finding, run, self.silences)
        most = self.severity.get(finding.rule)
        if most and SEVERITIES.index(finding.severity) < SEVERITIES.index(most):
            return replace(finding, severity=most)
        return finding


def find(folder: Path) -> Path | None:
    """Return the nearest settings file at or above `folder`, else the user's own; None for none."""
    places = (folder, *folder.parents, own_folder())
    return next((path for path in map(in_folder, places) if path), None)


def in_folder(folder: Path) -> Path | None:
    """Return the settings file of a folder; None where it has none."""
    for name in NAMES:
        path = folder / name
        if path.is_file() and (name == NAMES[0] or b"tool.runlens" in _bytes(path)):
            return path
    return None


def load(
    path: Path | None, today: date | None = None, places: Sequence[str | Path] | None = None
) -> Settings:
    """Read a settings file; raise BadSettings with the file and the key at fault.

    Args:
        path: the file; None gives the settings as they come.
        today: decides which silences still hold; the day of the machine where it is left out.
        places: what is read, for a file that was found: one of another user, or within what is
            read, is not used, and its rule files are run only where the user trusts them. None:
            the file was named by hand, and is trusted.

    """
    if path is None:
        return Settings()
    given = places is None
    refused = "" if given else why_not_used(path, places or ())
    if refused and not is_trusted(path):
        return Settings(problems=(_refusal(path, f"{refused}, so it is not used", "its settings"),))
    try:
        document = _document(path)
        files, problems = files_of(_patterns(document), path.resolve().parent)
        unsafe = why_not_run(path, files) if (files or refused) and not given else ""
        if unsafe and refused:
            return Settings(
                problems=(_refusal(path, f"{refused}, and it {unsafe}", "its settings"),)
            )
        if unsafe:
            problems = (_refusal(path, f"{unsafe}, so they are not run", LOST), *problems)
        day = today or date.today()  # noqa: DTZ011 - the user's own day
        return _settings(document, day, () if unsafe else files, problems)
    except (BadSettings, ValueError) as error:  # 0xfff...: Python writes out no such number
        raise BadSettings(one_line(f"{path}: {error}")) from None


def rule_files(path: Path) -> tuple[str, ...]:
    """Return the rule files that a settings file names; raise BadSettings as `load` does."""
    try:
        return files_of(_patterns(_document(path)), path.resolve().parent)[0]
    except BadSettings as error:
        raise BadSettings(one_line(f"{path}: {error}")) from None


def _document(path: Path) -> Mapping[str, Any]:
    import tomllib

    try:
        document: Mapping[str, Any] = tomllib.loads(_text(path))
    except (ValueError, RecursionError) as error:  # as TOMLDecodeError, and numbers too long
        raise BadSettings(f"is no TOML: {error}") from None
    if path.name == NAMES[1]:
        return _table("[tool.runlens]", _table("[tool]", document, "tool"), "runlens")
    return document


def _patterns(document: Mapping[str, Any]) -> list[str]:
    patterns = document.get("rules", [])
    if not isinstance(patterns, list) or not all(isinstance(one, str) for one in patterns):
        raise BadSettings('rules takes a list of files: ["my_rules/*.py"]')
    return patterns


def _refusal(path: Path, why: str, lost: str) -> Problem:
    return Problem(str(path), f"{why}; {what_to_do(path)}", lost)


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise BadSettings(f"cannot be read ({error})") from None


def _bytes(path: Path) -> bytes:
    """Return what a file holds that may have settings, or nothing where it cannot be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def _table(called: str, within: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    table = within.get(key, {})
    if not isinstance(table, dict):
        raise BadSettings(f"{called} is {_written(table)}; it takes a table")
    return table


def _settings(
    document: Mapping[str, Any], today: date, files: tuple[str, ...], problems: tuple[Problem, ...]
) -> Settings:
    from runlens import crossrun

    _known("key", document, KEYS)
    known = added(files)
    own: tuple[Asked, ...] = (*LISTED, *known.rules)
    # a rule that cannot be loaded is a problem of the report: settings may still speak of it
    unsure = _spoken_of(document) if problems or known.problems else ()
    single = [*(rule.slug for rule in own), *unsure]
    slugs = [*dict.fromkeys((*(rule.slug for rule in own), *crossrun.SLUGS)), *unsure]
    for key in ("select", "ignore"):
        if not isinstance(document.get(key, []), list):
            raise BadSettings(f"{key} takes a list of rules")
        _known(f"rule in {key}", document.get(key, []), slugs)
    for key in ("severity", "limits"):
        if not isinstance(document.get(key, {}), dict):
            raise BadSettings(f"{key} takes a table, a rule a key")
        _known(f"rule in {key}", document.get(key, {}), slugs)
    for slug, level in document.get("severity", {}).items():
        if level not in SEVERITIES:
            raise BadSettings(f"severity of {slug} is {level!r}; use {', '.join(SEVERITIES)}")
    if not isinstance(document.get("preview", False), bool):
        raise BadSettings("preview takes true or false")
    rules: dict[str, Asked | CrossRule[Any]] = {one.slug: one for one in own}
    if set(crossrun.SLUGS).intersection(document.get("limits", {})):
        rules |= {one.slug: one for one in crossrun.CROSS_RULES}
    limits = {
        slug: _limits(rules[slug], own)
        for slug, own in document.get("limits", {}).items()
        if slug in rules
    }
    silences = parsed(document.get("silence", []), single)
    return Settings(
        tuple(document.get("select", ())),
        tuple(document.get("ignore", ())),
        document.get("preview", False),
        document.get("severity", {}),
        limits,
        _columns(document.get("columns", {})),
        tuple(one for one in silences if one.until >= today),
        tuple(one for one in silences if one.until < today),
        _price(document.get("audit", {})),
        files,
        problems,
        _routes(document.get("audit", {}).get("routes", [])),
    )


def _spoken_of(document: Mapping[str, Any]) -> list[str]:
    """Return all names of rules in a document of settings, of whatever shape it is."""
    tables = [document.get(key) for key in ("select", "ignore", "severity", "limits")]
    listed = [str(name) for one in tables if isinstance(one, list | dict) for name in one]
    silences = document.get("silence")
    silent = silences if isinstance(silences, list) else []
    return [*listed, *(str(one.get("rule")) for one in silent if isinstance(one, dict))]


def _price(own: object) -> float | None:
    if not isinstance(own, dict):
        raise BadSettings("audit takes a table: gpu_hour_price = 2.5")
    _known("key of audit", own, OF_AUDIT)
    price = own.get("gpu_hour_price")
    if price is None:
        return None
    known: float | None = None if isinstance(price, bool) else _as_kind(float, price)
    if known is None or not 0 <= known < inf:
        raise BadSettings(f"gpu_hour_price is {_written(price)}; it takes a number, 0 or more")
    return known


def _routes(own: object) -> tuple[Route, ...]:
    form = 'write [[audit.routes]] with notify = "$VARIABLE" and users = ["anna"]'
    if not isinstance(own, list) or not all(isinstance(one, dict) for one in own):
        raise BadSettings(f"routes of audit is no list of tables; {form}")
    return tuple(_route(one, form) for one in own)


def _route(own: Mapping[str, Any], form: str) -> Route:
    _known("key of a route", own, OF_ROUTE)
    lists = {name: own.get(name, []) for name in OF_ROUTE[:-1]}
    texts = [one for some in lists.values() for one in (some if isinstance(some, list) else [None])]
    if not isinstance(own.get("notify"), str) or not texts or None in map(_as_text, texts):
        raise BadSettings(f"a route of audit says not who is told, or of whom; {form}")
    return Route(own["notify"], *(tuple(lists[name]) for name in OF_ROUTE[:-1]))


def _as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def columns_of(pairs: Sequence[str]) -> dict[str, str]:
    """Return columns as they are said on a command line: ``train_loss=xent``."""
    parts = [pair.partition("=") for pair in pairs]
    for pair, (ours, equals, theirs) in zip(pairs, parts, strict=True):
        if not (ours.strip() and equals and theirs.strip()):
            raise BadSettings(f"--column {pair!r}: it takes NAME=COLUMN, as train_loss=xent")
    return _columns({ours.strip(): theirs.strip() for ours, _, theirs in parts})


def _columns(own: object) -> dict[str, str]:
    if not isinstance(own, dict):
        raise BadSettings('columns take a table: train_loss = "my_loss"')
    seen: dict[str, str] = {}
    for ours, theirs in own.items():
        if not isinstance(theirs, str) or not theirs.strip():
            raise BadSettings(f"column {ours} is {theirs!r}; it takes the name in the file")
        if theirs in seen:
            raise BadSettings(f"column {theirs!r} is said to be both {seen[theirs]} and {ours}")
        seen[theirs] = ours
    return {ours: theirs.strip() for ours, theirs in own.items()}


def _limits(of: "Asked | CrossRule[Any]", own: object) -> dict[str, Any]:
    rule = of.load() if isinstance(of, Listed) else of
    slug = rule.slug
    if not isinstance(own, dict):
        raise BadSettings(f"limits of {slug} take a table")
    defaults = values(rule.limits)
    _known(f"limit of {slug}", own, list(defaults))
    made = {name: _as_kind(type(defaults[name]), value) for name, value in own.items()}
    for name, value in made.items():
        if value is None or isinstance(own[name], bool):
            told = f"limit {name} of {slug} is {_written(own[name])}"
            raise BadSettings(f"{told}; it takes a number such as {defaults[name]}")
    return made


def _as_kind(kind: type, value: object) -> Any:  # noqa: ANN401 - a limit's own kind of number
    """Return a number as the kind that is asked for; None for all else, and for what is too large.

    NaN is none: nothing is above it or below it.
    """
    try:
        made = kind(value) if isinstance(value, int | float) else None
    except (ValueError, OverflowError):
        return None
    return None if made is None or isnan(made) else made


def _written(value: object) -> str:
    return repr(value)[:LONGEST]


def _known(what: str, names: Iterable[Any], known: Sequence[str]) -> None:
    for name in names:
        if name not in known:
            raise BadSettings(f"unknown {what}: {name!r}{nearest(str(name), known)}")
