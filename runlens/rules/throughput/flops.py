"""Model flops utilization by the settings, where a run logs tokens per second and no mfu.

A token costs about 6 operations a parameter where all are trained (2 forward, 4 backward), 4 with
an adapter on frozen weights. Peaks are the makers' dense half-precision figures.
"""

import re

from runlens.run import Run

TRAINED, FROZEN = 6.0, 4.0  # operations a parameter and token
PEAKS = (  # card -> 1e12 operations a second; the first that fits
    (r"GH200|H200|H100|H800", 989.0),
    (r"B[12]00|GB?200", 2250.0),
    (r"A100|A800", 312.0),
    (r"L40S", 362.0),
    (r"L40\b|RTX 6000 Ada", 181.0),
    (r"A40\b|A6000", 150.0),
    (r"A30\b", 165.0),
    (r"A10G?\b", 125.0),
    (r"\bL4\b", 121.0),
    (r"V100", 125.0),
    (r"\bT4\b", 65.0),
    (r"RTX 4090", 165.0),
    (r"RTX 3090", 71.0),
)


def peak(card: str) -> float | None:
    """Return the operations a second of a card in half precision; None where it is not known."""
    known = (speed for name, speed in PEAKS if re.search(name, card, re.IGNORECASE))
    found = next(known, None)
    return found and found * 1e12


def estimated_mfu(run: Run, tokens_per_second: float) -> float | None:
    """Return the share of the card's peak that a speed means; None where it cannot be told.

    Several processes leave open whether the speed is that of one or of all: None as well. So does
    a share above 1: such a speed was counted wrongly.
    """
    size, top = run.number("num_parameters"), peak(str(run.setting("gpu") or ""))
    if not size or top is None or (run.number("num_processes") or 1) > 1:
        return None
    each = FROZEN if run.adapted else TRAINED
    share = each * size * tokens_per_second / top
    return share if share <= 1 else None
