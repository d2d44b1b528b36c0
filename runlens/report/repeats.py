"""What repeats of one setting say together: where some of them diverge, it is at its edge."""

import re
from collections.abc import Iterator, Sequence

from runlens.config_keys import written
from runlens.diagnosis import Diagnosis
from runlens.patterns import lazy_re
from runlens.report.facts import loud
from runlens.report.terminal import Options, clean, wrapped
from runlens.report.values import PART
from runlens.run import Setting
from runlens.wording import count, listed

FEWEST = 3  # repeats, of which one is thrown and more are not
SHOWN = 3  # of the runs that diverged, by name
RATE = "learning_rate"
THROWN = frozenset(("divergence", "nan-loss", "nan-grad", "hidden-nan", "grad-explosion"))
_SEED = lazy_re(r"(?:.*[_. ])?seeds?", re.IGNORECASE)
_NUMBER = lazy_re(r"\d+")


def at_the_edge(diagnoses: Sequence[Diagnosis], options: Options) -> Iterator[str]:
    """Yield what repeats say of which a few diverged while most did not.

    With equal settings chance decides which one it is: leaving it out changes nothing. Beside one
    that diverged, one that ends above its start did so as well. Where most diverged the settings
    are wrong for all, and each run says so by itself.
    """
    for group in _repeats(diagnoses):
        thrown = [one for one in group if _thrown(one)]
        sound = [one for one in group if not loud(one) and not _thrown(one)]
        if not any(map(loud, thrown)) or len(sound) < len(thrown):
            continue
        rate = _settings(thrown[0]).get(RATE)
        names = listed([clean(one.run_name) for one in thrown[:SHOWN]])
        more = "" if len(thrown) <= SHOWN else f" and {len(thrown) - SHOWN} more"
        one_alone = len(thrown) == 1
        seeds = "that seed" if one_alone else "those seeds"
        said = f"{len(thrown)} of {count(len(group), 'run')} that differ in their seed alone "
        said += "" if rate is not None else "(no rate is recorded) "
        said += f"diverged ({names}{more}). Their settings may be at the edge of what trains: then "
        said += f"chance decides which seed diverges. Repeat {seeds} with half the learning rate"
        half = f" ({written(float(rate) / 2)})" if isinstance(rate, int | float) else ""
        said += f"{half}. If {'it stays' if one_alone else 'they stay'} sound, use that rate for "
        said += f"all seeds and do not leave one out. If {'it' if one_alone else 'one of them'} "
        its = "that" if one_alone else "its"
        yield from wrapped(f"{said}diverges again, look at what {its} seed draws.", options)
        yield ""


def _thrown(one: Diagnosis) -> bool:
    """Whether a run diverged, or learned nothing and ends above its start."""
    faults = loud(one)
    if faults:
        return faults[0].findings[0].rule in THROWN
    losses = one.curves["train_loss"].value if "train_loss" in one.curves else ()
    lost = any(found.rule == "not-learning" for found in one.findings)
    return lost and len(losses) > 0 and bool(losses[-1] > losses[0])


def _repeats(diagnoses: Sequence[Diagnosis]) -> list[list[Diagnosis]]:
    """Return groups of runs whose settings are equal but for a seed, which the name may hold."""
    groups: dict[tuple[object, ...], list[Diagnosis]] = {}
    for one in diagnoses:
        settings = _settings(one)
        if RATE in settings or PART.search(one.run_name):  # parts of a file are of one program
            name = _NUMBER.sub("#", one.run_name)
            kept = {key: some for key, some in settings.items() if not _SEED.fullmatch(key)}
            groups.setdefault((name, *sorted(map(repr, kept.items()))), []).append(one)
    return [group for group in groups.values() if len(group) >= FEWEST and len(_seeds(group)) > 1]


def _seeds(group: Sequence[Diagnosis]) -> set[object]:
    """Return the seeds that are told of runs, by their settings or their names."""
    told = [
        [some for key, some in _settings(one).items() if _SEED.fullmatch(key)]
        or [name for name in [one.run_name] if "seed" in name.lower()]
        for one in group
    ]
    return {repr(some) for some in told if some}


def _settings(one: Diagnosis) -> dict[str, Setting]:
    return {row.key: row.value for row in one.settings}
