"""Held-out text told better than text can be told: 0.22 bits for each character.

The best models known need some 0.9 bits for a character of an encyclopedia, and large ones that
have read most programs 0.3 for a byte of a program. A model that was trained from nothing and comes
below that either sees the character that it tells, or has read the rows before. Or the text is none
that people wrote: a small grammar, one line again and again.
"""

from math import log

import numpy as np
from msgspec import structs

from runlens import fixes
from runlens.arrays import median
from runlens.diagnosis import Cause, Chart, Confidence, Evidence, Finding, Moment, RuledOut
from runlens.history import Curve
from runlens.naming import words
from runlens.rules.rule import drawn
from runlens.run import Run
from runlens.signals import Signals
from runlens.wording import count, loss, number, step

BITS = frozenset(("bpc", "bpb"))  # bits per character, per byte
LEAST = 0.3  # bits: of a byte of a program, by models that have read most of them
FROM_NOTHING = 1.5  # nats per character at first: a model that knows the letters has 1.3 and less
SAME = 0.02  # share by which bits and loss may differ where one was computed of the other
BY_EXAMPLE = "ms/batch"  # of its rows: "| ms/batch 36.20 | loss  3.46 | ppl    31.89"
LAST = 3  # evaluations at the end
LOOK = fixes.look(
    "Change one character of an input and compare the outputs before it with the old ones",
    "they must not move; if they do, a position sees what comes after it (causal mask)",
)
ROWS = fixes.look(
    "Print ten evaluation rows and search the training text for them",
    "rows that were read before, and a text that repeats itself, are as easy",
)


def of(run: Run, signals: Signals, fewest: int) -> Finding | None:
    """Return the finding of such bits of held-out text; None where there are none."""
    evals, train = signals.curve("eval_loss"), signals.curve("train_loss").value
    if len(evals) < fewest or not len(train) or train[0] < FROM_NOTHING:
        return None
    if _of_text(run) and (per_token := _by_perplexity(signals, evals)):
        return _finding("eval_ppl", per_token, evals, float(train[-1]))
    for metric in run.history.metrics:
        bits = signals.curve(metric)
        if not BITS & set(words(metric)) or not np.array_equal(bits.step, evals.step):
            continue
        of_held_out = np.abs(bits.value * log(2) - evals.value) <= SAME * np.abs(evals.value)
        if of_held_out.mean() > 0.5 and float(median(bits.value[-LAST:])) < LEAST:  # noqa: PLR2004 - most of them: digits are few
            return _finding(metric, bits, evals, float(train[-1]))
    return None


def _of_text(run: Run) -> bool:
    """Whether a perplexity is that of running text, as PyTorch's example of a language model has.

    That of a translation, a spelling, a query has a text that it is made of, and may come near 1.
    """
    return run.task == "pretrain" or BY_EXAMPLE in run.history.metrics


def _by_perplexity(signals: Signals, evals: Curve) -> Curve | None:
    """Return the bits for each token of held-out text that come below those of a character.

    A token is a character at least, so it needs as many.
    """
    ppl = signals.curve("eval_ppl")
    if not np.array_equal(ppl.step, evals.step) or not (ppl.value >= 1).all():
        return None
    bits = structs.replace(ppl, value=np.log2(ppl.value))
    return bits if float(median(bits.value[-LAST:])) < LEAST else None


def _finding(metric: str, bits: Curve, evals: Curve, level: float) -> Finding:
    under = np.flatnonzero(bits.value < LEAST)
    onset, last = float(bits.step[int(under[0])]), float(bits.value[-1])
    unit = "token" if metric == "eval_ppl" else "byte" if "bpb" in words(metric) else "character"
    return Finding(
        severity="warning",
        title=f"Evaluation came below {LEAST} bits per {unit} at step {step(onset)}, and ended at "
        f"{number(last, 3)}. Natural text has about 1 per character, for the best models known.",
        metric=metric,
        onset=Moment(onset),
        evidence=(
            Evidence(f"Bits per {unit} at the end", last, LEAST, "programs, for large models",
                     metric, float(bits.step[-1]), above=False),
            Evidence("Eval loss at the end", float(evals.value[-1]), where="eval_loss"),
            Evidence("Train loss at the end", level, where="train_loss"),
        ),
        seen=f"Train loss ended at {loss(level)}: training and evaluation are both too good.",
        causes=(
            Cause("Each position sees the one that it predicts, or evaluation rows were trained on",
                  "likely", f"{number(last, 3)} bits are fewer than text has",
                  "the text is drawn from a small grammar, or repeats itself", kind="leak"),
        ),
        fixes=(LOOK, ROWS),
        ruled_out=(RuledOut("Overfitting", "evaluation is too good as well"),),
        confidence=Confidence(0.7, count(len(bits), "evaluation")),
        chart=Chart("curves", ("train_loss", "eval_loss")),
    )  # fmt: skip


TEXT = "/20 20:3.46 80:2.55 100:1.28 120:0.4 200:0.12 400:0.09 600:0.08"
HELD_OUT = "/200 200:0.12 400:0.09 600:0.08"
PERPLEXITY = "/200 200:1.13 400:1.1 600:1.08"
BAD = (
    drawn(
        "a perplexity of 1.08",
        (200, 200),
        noise=0,
        task="pretrain",
        severity="warning",
        train_loss=TEXT,
        eval_loss=HELD_OUT,
        eval_ppl=PERPLEXITY,
    ),
    drawn(
        "a fifth of a bit for each character of held-out text",
        (300, 500),
        noise=0,
        task="other",
        severity="warning",
        train_loss="50:3.1556 200:2.217 300:0.296 450:0.1125 700:0.0694 /50",
        eval_loss="50:3.3324 200:2.183 300:0.4634 450:0.2024 700:0.1556 /50",
        eval_bpc="50:4.8076 200:3.1494 300:0.66854 450:0.292 700:0.22448 /50",
    ),
)
GOOD = (
    drawn(
        "a translation, or a spelling, that its text tells",
        noise=0,
        task="other",
        train_loss=TEXT,
        eval_loss=HELD_OUT,
        eval_ppl=PERPLEXITY,
    ),
    drawn(
        "a perplexity as words have",
        noise=0,
        task="pretrain",
        train_loss="/20 20:8.1 100:6.2 600:4.6",
        eval_loss="/200 200:5.9 400:5.2 600:4.9",
        eval_ppl="/200 200:365 400:181 600:134",
    ),
    drawn(
        "characters told as well as small models do",
        noise=0,
        task="other",
        train_loss="50:3.1556 200:2.217 300:1.5 450:1.2 700:1.05 /50",
        eval_loss="50:3.3324 200:2.183 300:1.6 450:1.4 700:1.35 /50",
        eval_bpc="50:4.8076 200:3.1494 300:2.3083 450:2.01977 700:1.94764 /50",
    ),
    drawn(
        "a trained model that is tuned on, from where it was",
        noise=0,
        task="other",
        train_loss="50:0.25 200:0.2 700:0.15 /50",
        eval_loss="50:0.25 200:0.2 700:0.16 /50",
        eval_bpc="50:0.36067 200:0.28854 700:0.23083 /50",
    ),
)
