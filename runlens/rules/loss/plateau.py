"""Plateau: training loss falls at first and then stays far above where it should come.

What is seen
    From a quarter of the run on nothing more is gained, at a level that is still a large part of
    the start, or above what sound runs of the task leave behind.
Why it matters
    At that pace the run would take many times its length to come down: training longer does not
    help, something holds it up.
Looks alike
    A converged run is flat too, but far below its start or at the level of its task. A fine- tune
    of a good model falls little. Pretraining slows down by a power law and still falls with each
    doubling. What starts above any chance level may be a sum: info. A learning rate that decayed
    too early is its cause. A rise after the knee is divergence. A history that begins mid-run lacks
    the fall. Held-out scores that improve are no standstill; nothing is left where nearly all
    answers are right, or where training alone fits on. A run that ended in the first quarter of its
    plan had little time: info. Pairs told apart leave a floor that depends on a temperature. Of an
    unknown task a share of its start is no known level, and noise may hide a fall: an info, unless
    evaluation, or a start that no trained model has, says more. A softmax in front of the loss
    holds it up while it falls: then loss and accuracy add up to one sum. One share of right answers
    at each point, beside a loss that stands, is told as info at any level.
Limits
    gained: share of the level gained since the second quarter below which the loss stands still.
    onward: share of the whole fall that is gained since the second quarter, from which it still
    falls (0.23 at most in 21 labeled plateaus). risen: rise after the first quarter, as a share
    of the level, after which it is not flat (0.06 at most in 33), noise apart. left: share of the
    start that remains; down to little it is an info. fall: noise scales of the first fall, and
    least_fall of the start: less is not-learning's. sft: level of chat data (healthy runs end at
    0.5-2.0), raw_text: of text without template or mask (models of the size of GPT-2 end at
    3.1-3.8). ctc_low: above it a CTC loss writes blanks alone (2.7 to 3.5). unmoved: nats below
    the start value of a preference loss. frozen: a loss of whose last three quarters four fifths
    lie within this share of their level has stopped, at whatever level (within ten times as
    much, beside evaluations never better than the first, an info). early: share of its plan
    below which a run that ended had too little time for a warning. coin: share of ln 2 below
    which a classifier has learned, whatever its first row was. fewest_loud: so few points are no
    warning, unless the loss is frozen. Of 443 labeled runs the healthy gain 4 % and more where
    half of the start is left.
Fixes
    Decoded samples with their label mask; overfit one batch; learning rate times 3 where it is low,
    a third where it is high; warm-up 5 %; weight decay 0.01; more LoRA capacity.
"""

from dataclasses import replace

from runlens.arrays import quantile
from runlens.diagnosis import Chart, Confidence, Evidence, Finding, Mark, Moment, Outcome, RuledOut
from runlens.history import Curve
from runlens.rules.loss import causes_of_flat, parts, shelf, softmaxed, standing, surroundings
from runlens.rules.loss.shelf import (
    Bound,
    Limits,
    Shelf,
    Still,
    at_floor,
    bound_of,
    no_mean,
    shown,
    still_of,
    too_high,
)
from runlens.rules.relations import Relations
from runlens.rules.rule import LOSS_TASKS, Rule, drawn, found, passed, unless, unmet
from runlens.run import Run, State
from runlens.signals import Signals, held_out
from runlens.signals.changes import climb
from runlens.signals.noise import sigma, smooth, window
from runlens.signals.shape import confidence
from runlens.wording import count, loss, moved, percent, step

OWN_LEVEL = "the level that this task ends at is not known"
# negatives that have nothing to do with the pair leave ln(1 + 2N exp(-1 / T)) of N pairs: of 256 at
# SimCLR's T of 0.5 that is 4.3, two thirds of a guess (Chen et al. 2020, arXiv:2002.05709, eq. 1)
FLOOR_OF_PAIRS = "how low a contrastive loss can come depends on its temperature"
LOST = ("nan-loss", "hidden-nan", "divergence", "grad-explosion")  # rules that say why it ended
QUARTERS = 8  # points from which the quarters of a run have levels
WANDERS = 5.0  # noise scales of the smoothed curve: the range of ten is above it in one of 100
BY_CHANCE = 0.1  # that a loss which still falls gains as little
LEARNED = RuledOut("A fault of the training", "not shown: all there was may be learned")
LN_2 = 0.693  # loss of who answers by a coin


def check(run: Run, signals: Signals, limits: Limits) -> Outcome:
    """Ask whether the last three quarters gained anything, and where they lie."""
    twice = softmaxed.of(run, signals)
    return found(softmaxed.finding(twice)) if twice else _flat(run, signals, limits)


def _flat(run: Run, signals: Signals, limits: Limits) -> Outcome:
    train = surroundings.judged(signals)
    if len(train) < QUARTERS:
        few = f"only {count(len(train), 'value')}" if len(train) else "no finite value"
        return unmet(f"{few} of train_loss")
    if signals.partial:
        return unmet(f"the history begins at step {step(signals.begins)}: the start is missing")
    still = still_of(train.value)
    if still.gain > limits.gained * abs(still.level) or shelf.falls_in_order(train.value, still):
        return passed(f"loss gained {loss(still.gain)} since the second quarter of the run")
    rose = climb(smooth(train.value)[len(train) // 4 :]).height
    scatter = WANDERS * sigma(train.value) / (window(len(train)) / 2) ** 0.5
    if rose > max(limits.risen * abs(still.level), scatter):
        return passed(f"loss rose by {loss(rose)} after the first quarter: not flat")
    fall = still.start - still.level
    if still.gain > limits.onward * fall > 0:
        return passed(f"loss gained {loss(still.gain)} of {loss(fall)} since the second quarter")
    if fall < max(limits.fall * sigma(train.value), limits.least_fall * abs(still.start)):
        return passed(f"loss {moved(-fall, loss)} over the run: too little for a plateau")
    low, high = (quantile(train.value[len(train) // 4 :], share) for share in (0.1, 0.9))
    if high - low <= limits.frozen * abs(still.level):
        frozen = Bound(0.0, "any level: it is constant")
        return found(_finding(run, signals, train, still, frozen, limits))
    if high - low <= shelf.ALMOST * limits.frozen * abs(still.level) and shelf.spent(signals):
        finding = _finding(run, signals, train, still, shelf.SPENT, limits)
        return found(replace(finding, severity="info", ruled_out=(LEARNED,)))
    if run.task == "contrastive":
        return passed(f"loss stands still at {loss(still.level)}, and {FLOOR_OF_PAIRS}")
    return _by_level(run, signals, train, still, limits)


def _by_level(run: Run, signals: Signals, train: Curve, still: Still, limits: Limits) -> Outcome:
    """Judge where a loss stands still."""
    own = Bound(limits.left * still.start, f"{percent(limits.left)} of its start")
    if run.task == "classification" and own.level < limits.coin * LN_2:
        own = Bound(limits.coin * LN_2, f"{percent(limits.coin)} of ln 2, what a coin has")
    shelf = Shelf(still.start, still.level)
    bound = own if no_mean(run, signals, shelf) else bound_of(run, still, own, limits)
    far = still.level >= bound.level
    if not far and (same := standing.by_answers(signals, train, still)):
        return found(standing.told(_finding(run, signals, train, still, same, limits), same))
    if not far and (run.task != "other" or still.level < limits.little * still.start):
        return passed(f"loss ends at {loss(still.level)} (threshold {loss(bound.level)})")
    learns = held_out.improving(run, signals, int(train.step[len(train) // 4]))
    if learns := learns or at_floor(signals, train.value, limits.gained) or parts.lifted(run):
        return passed(f"loss stands still at {loss(still.level)}, but {learns}")
    finding = _finding(run, signals, train, still, bound, limits)
    high = too_high(run, signals, shelf) or ("" if far else OWN_LEVEL)
    if high := high or shown(run, signals, train.value, still, limits.gained):
        doubt = RuledOut("A fault of the training", f"not shown: {high}")
        finding = replace(finding, severity="info", ruled_out=(doubt,))
    return unless(LOST, f"loss stayed at {loss(still.level)} until it became NaN", finding)


def _early(run: Run, limits: Limits) -> bool:
    """Whether the run ended before it had done much of what was planned."""
    return bool(run.state.done_share and run.state.done_share < limits.early)


def _finding(
    run: Run, signals: Signals, train: Curve, still: Still, bound: Bound, limits: Limits
) -> Finding:
    onset, first = float(train.step[still.knee]), float(train.value[0])
    sure = confidence(still.level / bound.level, BY_CHANCE) if bound.level else 1.0
    allowed = limits.gained * abs(still.level)
    last = float(train.step[-1])
    rows = [
        Evidence(
            "Median train loss of the last fifth",
            *(still.level, bound.level, bound.source),
            where="train_loss",
            step=last,
        ),
        Evidence(
            "Change since the second quarter",
            -still.gain,
            -allowed,
            "a fall of less than this share of the level is a standstill",
            "train_loss",
        ),
        Evidence("First train loss", first, where="train_loss", step=float(train.step[0])),
    ]
    evals = signals.curve("eval_loss").value
    if len(evals):
        rows.append(Evidence("Last eval loss", float(evals[-1]), where="eval_loss"))
    share = still.gain / abs(still.level)
    little = f". After the first quarter it fell by only {percent(share)}"
    moves = f"{little}, to" if round(share, 3) > 0 else ", at"
    few = len(train) < limits.fewest_loud and bound.level > 0
    return Finding(
        severity="info" if few or _early(run, limits) else "warning",
        title=f"Train loss was flat from step {step(onset)} on{moves} {loss(still.level)} (median "
        "of the last fifth).",
        metric="train_loss",
        onset=Moment(onset),
        evidence=tuple(rows),
        seen=f"Train loss began at {loss(first)}. {parts.gone(run)}".rstrip(),
        fixes=causes_of_flat.cures(run, signals, train),
        ruled_out=(
            RuledOut(
                "A loss that is still falling slowly",
                f"it fell by {loss(still.gain)} since the first quarter",
            ),
            RuledOut("Divergence", "loss does not rise after the knee"),
        ),
        confidence=Confidence(round(sure, 2), f"{loss(still.gain)} lower since the first quarter"),
        chart=Chart(
            "limit",
            ("train_loss",),
            marks=(Mark(onset, still.level, "knee"),),
            limit=bound.level,
        ),
    )


CONSTANT = "0:2e-5 900:2e-5"
BAD = (
    *softmaxed.BAD,
    *standing.BAD,
    drawn(
        "fine-tune that stays at 4",
        (40, 200),
        severity="warning",
        train_loss="0:5.2 100:4 900:3.95",
        learning_rate=CONSTANT,
    ),
    drawn(
        "small vocabulary",
        (20, 200),
        severity="warning",
        task="pretrain",
        config={"vocab_size": 509},
        train_loss="0:6.2 60:5.4 900:5.38",
        learning_rate="0:1e-3 900:1e-3",
    ),
    drawn(
        "classifier",
        (20, 200),
        0.01,
        severity="warning",
        task="classification",
        config={"num_labels": 4},
        train_loss="0:1.5 80:1.25 900:1.24",
        learning_rate=CONSTANT,
    ),
    drawn(
        "chat data",
        (20, 200),
        severity="warning",
        config={"train_on_inputs": False},
        train_loss="0:4.5 80:2.95 900:2.9",
        learning_rate=CONSTANT,
    ),
    drawn(
        "ended in the first quarter of its plan",
        (40, 200),
        severity="info",
        state=State("crashed", done_steps=900, planned_steps=4000),
        train_loss="0:5.2 100:4 900:3.95",
        learning_rate=CONSTANT,
    ),
    drawn(
        "past the first quarter of its plan",
        (40, 200),
        severity="warning",
        state=State("crashed", done_steps=900, planned_steps=3000),
        train_loss="0:5.2 100:4 900:3.95",
        learning_rate=CONSTANT,
    ),
    drawn(
        "a fifth of its fall in the last three quarters",
        noise=0.004,
        task="classification",
        severity="warning",
        train_loss="0:0.692 150:0.655 900:0.639",
    ),
    drawn(
        "starts above any vocabulary, and evaluation as high says that it is a mean",
        (40, 100),
        0.001,
        severity="warning",
        train_loss="0:18.8 60:7.42 900:7.41",
        eval_loss="50:7.42 900:7.4",
    ),
    drawn(
        "summed over accumulation steps or labels of another tokenizer, and never evaluated",
        (40, 100),
        0.001,
        severity="info",
        train_loss="0:18.8 60:7.42 900:7.41",
    ),
    drawn(
        "single words alone, from a start just above the largest vocabulary",
        (60, 300),
        0.015,
        severity="warning",
        train_loss="0:14.2 80:7.2 250:6.5 2000:6.43",
    ),
    drawn(
        "constant, but for single points",
        (100, 300),
        0.0,
        severity="warning",
        task="regression",
        train_loss="0:11 100:0.5109 1500:0.5109 1510:0.69 1520:0.5109 1800:0.5109 1810:0.52 "
        "1820:0.5109 2000:0.5109",
    ),
    drawn(
        "more than half of its start is left",
        (20, 200),
        0.01,
        severity="warning",
        task="regression",
        train_loss="0:8 80:5 900:5",
        learning_rate=CONSTANT,
    ),
    drawn(
        "four tenths of its start are left, of an unknown task",
        (20, 200),
        0.01,
        severity="info",
        task="other",
        train_loss="0:8 80:3.2 900:3.2",
    ),
    drawn(
        "the rate was gone half-way",
        (150, 300),
        severity="warning",
        train_loss="0:7 200:4 900:3.95",
        learning_rate="0:2e-5 250:1e-5 400:1e-7 900:1e-8",
    ),
    drawn(
        "a likelihood, its offset unknown",
        (40, 200),
        severity="info",
        task="other",
        train_loss="0:6.7e7 80:6e7 900:6e7",
    ),
)
GOOD = (
    *softmaxed.GOOD,
    *standing.GOOD,
    drawn(
        "summed over accumulation steps: evaluation is an eighth",
        noise=0.001,
        train_loss="0:18.8 60:7.42 900:7.41",
        eval_loss="50:0.928 900:0.925",
    ),
    drawn("converged", train_loss="0:2.2 100:1 900:0.95", learning_rate=CONSTANT),
    drawn(
        "converged, and moves in the fourth digit",
        noise=0.002,
        task="regression",
        train_loss="0:11 100:0.5109 2000:0.5109",
    ),
    drawn("slow but falling", train_loss="0:8 900:3", learning_rate=CONSTANT),
    drawn(
        "slow, with a third of its fall in the last three quarters",
        noise=0.004,
        task="classification",
        train_loss="0:0.692 150:0.66 900:0.638",
    ),
    drawn(
        "power law",
        task="pretrain",
        config={"vocab_size": 50257},
        train_loss="0:10.8 100:6.5 300:5 900:4.2 3000:3.6",
        learning_rate="0:3e-4 3000:3e-4",
    ),
    drawn(
        "small model at the floor of raw text",
        config={"model_name": "gpt2"},
        noise=0.01,
        train_loss="0:5.2 200:3.5 500:3.38 900:3.35",
        learning_rate="0:0 150:5e-5 900:2e-6",
    ),
    drawn(
        "pretraining at a sound level, its start hardly logged",
        task="pretrain",
        train_loss="0:5.1 60:3.55 900:3.45",
    ),
    drawn(
        "pairs told apart among 256, near the floor of their temperature",
        task="contrastive",
        noise=0.003,
        train_loss="0:5.06 150:4.47 900:4.41",
    ),
    drawn("no learning rate logged", train_loss="0:5 100:3.4 900:3.4"),
    drawn(
        "a hump that came back",
        train_loss="0:11 100:6 300:5 400:7 500:5.2 900:5",
        learning_rate=CONSTANT,
    ),
    drawn("diverges", train_loss="0:6 150:3.5 400:3.4 900:6", learning_rate=CONSTANT),
)

RULE = Rule(
    slug="plateau",
    title="Plateau",
    family="LOS",
    severity="warning",
    page=__doc__,
    limits=Limits(),
    check=check,
    relations=Relations(layer="course"),
    needs=("train_loss",),
    tasks=LOSS_TASKS,
    bad=BAD,
    good=GOOD,
)
