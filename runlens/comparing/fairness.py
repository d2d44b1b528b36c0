"""What two runs should agree on: a difference here does not forbid a comparison, it is said."""

from collections.abc import Sequence

import numpy as np

from runlens.comparing.canonical import Pair, paired
from runlens.comparing.continuation import started
from runlens.comparing.groups import group
from runlens.comparing.rows import listed, precision, recorded, rows
from runlens.comparing.signs import Signs
from runlens.comparison import Check
from runlens.patterns import lazy_re
from runlens.run import Run, Setting
from runlens.wording import count

NOT_KNOWN = "not known to be equal"
SAMPLING = ("packing", "eval_packing", "sample_packing_eval", "eval_sample_packing")
LENGTHS = ("max_length", "sequence_len", "n_positions", "max_prompt_length")
DATA = lazy_re(
    r"^(datasets?|train_(file|files|data|dataset|path)|data_path|dataset_(name|id|mixer)|data)"
    r"(\.\d+)?(\.(path|name|type|split))?$"
)
SHOWN = 3  # settings that a sentence names


def fair(signs: Signs) -> list[Check]:
    """Return the points that should agree."""
    a, b = signs.settings
    pair = Pair("precision", precision(a), precision(b))
    texts = any(key in one.known for one in (a, b) for key in (*SAMPLING, *LENGTHS))
    return [
        _settings("Precision", [pair]),
        *_data(signs),
        *([_by_keys("Packing", SAMPLING, signs)] if texts else []),
        *([_by_keys("Sequence length", LENGTHS, signs)] if texts else []),
        *_dropout(signs),
        _evaluations(signs.a, signs.b),
        _resumed(signs.resumes),
        *started(signs.a, signs.b),
        _seeds(signs),
        _changed(signs),
    ]


def _settings(what: str, pairs: Sequence[Pair]) -> Check:
    known = [one for one in pairs if one.a and one.b]
    for one in known:
        if one.differs and one.a and one.b:
            return Check(what, False, f"{_said(one.a.value)} in A, {_said(one.b.value)} in B")
    if not known or not known[0].a:
        return Check(what, None, NOT_KNOWN)
    return Check(what, True, f"{_said(known[0].a.value)} in both")


def _said(value: Setting) -> str:
    return (
        {None: "not set", True: "on", False: "off"}.get(value, str(value))
        if (value is None or isinstance(value, bool))
        else str(value)
    )


def _by_keys(what: str, keys: Sequence[str], signs: Signs) -> Check:
    a, b = signs.settings
    return _settings(what, paired(keys, a, b))


def _data(signs: Signs) -> list[Check]:
    a, b = signs.settings
    keys = sorted(key for key in a.known.keys() | b.known.keys() if DATA.search(key.lower()))
    found = paired(keys, a, b)
    return [_settings("Training data", found)] if keys else []


def _dropout(signs: Signs) -> list[Check]:
    a, b = signs.settings
    keys = sorted(key for key in a.known.keys() | b.known.keys() if group(key) == "dropout")
    found = _settings("Dropout", paired(keys, a, b))
    if found.ok is False:
        return [found._replace(why=f"{found.why}: train losses differ by it, eval losses do not")]
    return [found] if keys else []


def _evaluations(a: Run, b: Run) -> Check:
    what = "Steps of the evaluations"
    one, two = a.curve("eval_loss").step, b.curve("eval_loss").step
    if not len(one) or not len(two):
        return Check(what, None, "no eval loss in both")
    shared = len(np.intersect1d(one, two))
    said = f"{count(shared, 'evaluation')} at equal steps, of {len(one):,} and {len(two):,}"
    return Check(what, shared == min(len(one), len(two)), said)


def _resumed(resumes: Sequence[list[int]]) -> Check:
    if not any(resumes):
        return Check("Resume", True, "neither was resumed, as far as is known")
    said = [
        f"{name} was resumed at step {' and '.join(f'{step:,}' for step in steps[:SHOWN])}"
        for name, steps in zip("AB", resumes, strict=True)
        if steps
    ]
    return Check("Resume", resumes[0] == resumes[1], ", ".join(said))


def _seeds(signs: Signs) -> Check:
    a, b = signs.settings
    keys = ("seed", "data_seed")
    known = paired(keys, a, b)
    for one in known:
        if one.differs and one.a and one.b:
            said = f"{one.key} is {_said(one.a.value)} in A, {_said(one.b.value)} in B"
            return Check("Seed", False, f"{said}: part of any difference is chance")
    if known[0].a and known[0].b:
        return Check("Seed", True, f"{known[0].a.value} in both")
    return Check("Seed", None, NOT_KNOWN)


def _changed(signs: Signs) -> Check:
    """Say how many settings were changed at once: the gain of several belongs to none of them."""
    what = "Settings changed at once"
    keys = [key for key in listed(rows(signs)) if group(key) != "version"]
    if not all(recorded(one) for one in signs.settings) and not keys:
        return Check(what, None, "settings are not recorded in both")
    if len(keys) <= 1:
        return Check(what, True, f"{keys[0]} alone" if keys else "none that bears on the training")
    named = ", ".join(keys[:SHOWN]) + (
        f" and {len(keys) - SHOWN} more" if len(keys) > SHOWN else ""
    )
    return Check(what, False, f"{named}: the difference cannot be attributed to one of them")
