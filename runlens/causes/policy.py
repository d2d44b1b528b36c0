"""Reinforcement learning's own causes: reward, KL term, exploration, stale samples, length."""

import numpy as np

from runlens.arrays import median
from runlens.causes.greedy import never_random, random_ended, worse_than_random
from runlens.causes.hypothesis import (
    HINT,
    LEADS,
    NO_REWARD,
    SETTLES,
    SPEAKS,
    STRONG,
    Hypothesis,
    Sign,
    Signs,
)
from runlens.causes.patterns import POLICY
from runlens.causes.scene import Scene
from runlens.metrics import spoken
from runlens.naming import words
from runlens.rules.rl import held_out, policy
from runlens.signals.changes import halved
from runlens.wording import number, percent, step

CONSTANT = 0.98  # of the rewards that are one and the same
FEWEST = 8
ROSE = 0.3  # of the reward's range that must be gained
SHRANK = 0.3  # last mean length over the first
GREW = 1.5
CERTAIN = 0.05  # of the first entropy: of two answers one is drawn 99 times of 100 or more often
FEW_TO_RELATE = 20  # points: fewer may lie on one line by chance, of many columns
TOGETHER = 0.99  # correlation: a part of 98 % of the variance
COPIED = 1e-6  # of its scatter, which rounding leaves between a number and its negative
FLAT_SCORE = 0.1  # of its range of 0 to 1 that a true measure must gain
CUT = 0.8  # share of the completions
EARLY = 0.02  # of the run
EPOCHS = 10  # over one batch of rollouts: the default of Stable-Baselines3's PPO; 3 to 10 are usual
COLD = 0.8  # sampling temperature
TRUE_MEASURES = ("train_accuracy", "eval_accuracy", "accuracy", "success_rate")


def _reward(scene: Scene) -> Signs:
    reward = scene.curve("reward")
    yield _constant(scene)
    stuck = scene.rules.get("reward-stuck-zero")
    if stuck and ":" in stuck.metric:  # a part of a sum
        ever = "hardly ever" if scene.curve(stuck.metric).value.any() else "never"
        yield Sign("", SPEAKS, f"{stuck.metric.rpartition(':')[2]} {ever} pays out")
    yield _no_loss(scene)
    yield _one_part(scene)
    if blind := policy.blind_critic(scene.signals):
        yield Sign(
            blind,
            SPEAKS,
            policy.NO_VALUES,
            policy.LAST_TARGET,
            falsifier="explained variance stays at 0 with such targets and with rewards of size 1",
        )
    if len(reward) >= FEWEST:
        yield _by_length(scene)
        yield _beside_truth(scene)
    if scene.has("reward-hacking"):
        yield _for_wrong_answers(scene) or Sign(scene.title("reward-hacking"), SPEAKS)


def _for_wrong_answers(scene: Scene) -> Sign | None:
    """Say that right answers got fewer while the reward rose in order: it is paid without them.

    A policy that was thrown by its rate earns less, whatever the reward measures.
    """
    fell = held_out.right_answers(scene.run, scene.signals)
    if fell is None:
        return None
    went = f"{fell.metric} went from {number(fell.start, 3)} to {number(fell.end, 3)}"
    return Sign(f"{went} while the reward rose", LEADS)


def _constant(scene: Scene) -> Sign | None:
    value = scene.curve("reward").value
    if len(value) < FEWEST:
        return None
    usual = float(median(value))
    same = float(np.mean(value == usual))
    spread = scene.curve("frac_zero_std").value
    equal = not len(spread) or float(median(spread)) >= CONSTANT
    if same < CONSTANT or not equal or never_random(scene):
        return None  # one way to act has one reward: that follows, and is no cause
    said = ""  # a reward that is stuck says so by its title
    if not scene.has("reward-stuck-zero"):
        points = f"{int(np.sum(value == usual))} of {len(value)} points"
        said = f"the mean reward is {number(usual)} at {points}"
    if scene.run.task == "rl" and _of_one_step(scene):
        said = "every episode is 1 step long"
        what = "The environment ends each episode at its first step"
        return Sign(
            said, LEADS, what, "Reset the environment, take one step, and print what ends it"
        )
    if scene.run.task == "rl" and (_by_score(scene) or not usual):
        return Sign("", HINT, NO_REWARD)
    if scene.run.task == "rl":
        return Sign(said, LEADS, "The reward is the same for every episode")
    return Sign(said, LEADS, f"The reward function returns {number(usual)} for every completion")


def _by_score(scene: Scene) -> bool:
    """Whether a share of wins or successes stands for the reward."""
    from runlens.rules.rl.stuck_advice import by_score  # of agents alone

    return by_score(scene.run)


def _no_loss(scene: Scene) -> Sign | None:
    """Say that an agent's loss is 0 at each point: a mean of one sign or another is not.

    In GRPO the advantages of a group add up to 0 while each of them counts.
    """
    value = scene.curve("train_loss").value
    if scene.run.task != "rl" or len(value) < FEWEST or value.any():
        return None
    return Sign(
        f"the loss is 0 at each of {len(value)} points",
        STRONG,
        "No action is told from another: the returns of an update are all the same",
        "Print the returns and the advantages of one update: they must differ",
    )


def _one_part(scene: Scene) -> Sign | None:
    """Say that a flat reward moves with one column alone, against it: what else it pays is drowned.

    The negative of a whole reward, a cost, is no part of it, and a loss follows what is earned.
    """
    reward = scene.curve("reward")
    if not scene.has("reward-flat") or scene.run.task != "rl" or len(reward) < FEW_TO_RELATE:
        return None
    spread = float(reward.value.std())
    for name in scene.run.history.metrics:
        part = scene.curve(name)
        if not np.array_equal(part.step, reward.step) or not np.ptp(part.value):
            continue
        if {"loss", "reward", "return"} & set(words(name)):
            continue
        together = float(np.corrcoef(part.value, reward.value)[0, 1])
        slope = together * spread / float(part.value.std())
        others = float((reward.value - slope * part.value).std())
        if together <= -TOGETHER and others > COPIED * spread:
            said = f"reward moves with {spoken(name)} alone: the rest is {percent(others / spread)}"
            return Sign(f"{said} of its scatter over {len(reward)} points", HINT)
    return None


def _of_one_step(scene: Scene) -> bool:
    """Whether all logged lengths of episodes are 1: nothing that the policy does counts."""
    for name in scene.run.history.metrics:
        if {"ep", "episode"} & set(words(name)) and {"len", "length"} & set(words(name)):
            length = scene.curve(name).value
            return len(length) >= FEWEST and bool((length == 1).all())
    return False


def _by_length(scene: Scene) -> Sign | None:
    """Say that length runs away while the reward rises: length is what is paid."""
    reward, length = scene.curve("reward").value, scene.curve("len_mean").value
    if len(length) < FEWEST:
        return None
    tenth = max(1, len(reward) // 10)
    first, last = float(median(reward[:tenth])), float(median(reward[-tenth:]))
    rose = last - first >= ROSE * max(float(np.ptp(reward)), 1e-12)
    span = max(1, len(length) // 10)
    short, long = float(median(length[:span])), float(median(length[-span:]))
    ran = long <= SHRANK * float(length[0]) or long >= GREW * float(length[0])
    if not rose or not ran or first >= last:
        return None
    went = f"went from {number(short, 3)} to {number(long, 3)}"
    if scene.has("length-growth"):  # whose headline has the numbers
        went = "grew"
    said = f"mean length {went} while reward "
    weight = SETTLES if long <= SHRANK * short or long <= 2 else SPEAKS  # noqa: PLR2004 - a token or two
    words = f"{said}rose from {number(first, 3)} to {number(last, 3)}"
    return Sign(words, weight, "A reward that can be earned by length alone")


def _beside_truth(scene: Scene) -> Sign | None:
    """Say that a true measure stays while the reward rises."""
    reward = scene.signals.levels("reward")
    span = max(float(np.ptp(scene.curve("reward").value)), 1e-12)
    if reward.end - reward.start < ROSE * span:
        return None
    for metric in (*TRUE_MEASURES, *held_out.lost(scene.run, scene.signals)):
        value = scene.curve(metric).value
        if len(value) < FEWEST or value.max() > 1:
            continue
        levels = scene.signals.levels(metric)
        if levels.end - levels.start < FLAT_SCORE:
            said = f"reward went from {number(reward.start, 3)} to {number(reward.end, 3)}, "
            truth = f"{spoken(metric)} from {number(levels.start, 3)} to {number(levels.end, 3)}"
            what = "A reward that can be earned without solving the task"
            return Sign(said + truth, SETTLES, what)
    return None


def _explored(scene: Scene) -> Signs:
    run = scene.run
    yield _certain(scene)
    yield _spent(scene)
    yield worse_than_random(scene)
    yield random_ended(scene) or never_random(scene)
    warm = run.number("temperature")
    if warm is not None and warm < COLD and scene.has("entropy-collapse", "zero-reward-std"):
        yield Sign(f"temperature is {warm:g}, and 0.8 to 1.0 is usual", SPEAKS)
    bonus = run.number("entropy_coef")
    if bonus == 0 and run.task in {"ppo", "rl"} and scene.has("entropy-collapse"):
        yield Sign("there is no entropy bonus", HINT)
    if bonus and bonus > 0.1 and scene.has("entropy-high"):  # noqa: PLR2004 - 0 to 0.01 is usual
        yield Sign(f"the entropy bonus is {bonus:g}", STRONG)


def _certain(scene: Scene) -> Sign | None:
    """Say that the entropy was all but gone where the gradient became 0.

    A policy that always draws the same is told nothing by what it draws. Where entropy is left the
    gradient is 0 for another reason; where KL blew up before, whatever drove it may have done both.
    """
    zero, entropy = scene.rules.get("grad-zero"), scene.curve("entropy")
    if zero is None or len(entropy) < FEWEST or entropy.value[0] <= 0:
        return None
    ends = zero.end.step if zero.end else None
    last = np.inf if ends is None else ends
    inside = (entropy.step >= zero.begins) & (entropy.step <= last)
    before = entropy.value[entropy.step < zero.begins]
    if not inside.any() or not len(before):
        return None
    start, left = float(entropy.value[0]), float(entropy.value[inside].max())
    if left > CERTAIN * start:
        return None
    ran = scene.everywhere.get("kl-blow-up")
    return Sign(
        f"entropy went from {number(start, 3)} to {number(left, 2)} or less where the gradient is "
        "0, so all that is drawn is alike",
        HINT if ran and ran.begins < zero.begins else SPEAKS,
        "A policy that no longer explores",
        falsifier="samples of one prompt or state differ where the gradient is 0",
    )


def _spent(scene: Scene) -> Sign | None:
    """Say that half of the entropy was gone before the reward fell: the policy had settled."""
    fell, spent = scene.rules.get("reward-collapse"), halved(scene.curve("entropy"))
    if fell is None or scene.run.task not in {"ppo", "rl"} or spent is None:
        return None
    if spent + scene.slack >= fell.begins:
        low = scene.everywhere.get("entropy-collapse")  # which of the two came first is not clear
        return Sign("entropy collapsed as well", HINT) if low and low is not scene.lead else None
    said = f"entropy had halved by step {step(spent)}, before the reward fell"
    # steps that are too large settle a policy as soon: that they are not must be known
    return Sign(said, SPEAKS if _of_usual_rate(scene) else HINT)


def _of_usual_rate(scene: Scene) -> bool:
    """Whether the rate is known, and no higher than is usual."""
    most = scene.usual.high if scene.usual else None
    return scene.rate is not None and (most is None or scene.rate <= most)


def _stale(scene: Scene) -> Signs:
    if scene.has("importance-ratio-divergence"):
        weight = SPEAKS if policy.parted(scene.signals) else SETTLES
        yield Sign(scene.title("importance-ratio-divergence"), weight)
    often = scene.number("num_iterations", "inner_epochs", "ppo_epochs", "num_ppo_epochs")
    on_policy = scene.run.task not in {"ppo", "rl"}  # these use a batch for several epochs
    if scene.has("clip-ratio-high") and (on_policy or (often and often[1] > EPOCHS)):
        updates = f"each batch is used {often[1]:g} times" if often and often[1] > 1 else ""
        said = [scene.title("clip-ratio-high"), updates]
        # how often a batch is used is not known: each use at too high a rate clips as much
        weight = STRONG if often else HINT
        yield Sign("; ".join(one for one in said if one), weight)
    elif often and often[1] > 4 and scene.run.task == "grpo":  # noqa: PLR2004 - 1 to 4 are usual
        yield Sign(f"{often[1]:g} updates use the samples of one generation", HINT)


def _cut(scene: Scene) -> Signs:
    cut = scene.curve("len_clipped")
    if len(cut) < FEWEST:
        yield _at_limit(scene)
        return
    head = max(1, round(EARLY * len(cut)))
    early, share = float(median(cut.value[:head])), float(median(cut.value))
    if early >= CUT * 0.5 and share >= CUT and scene.has("completions-clipped"):
        limit = scene.run.number("max_completion_length")
        most = f" of {limit:g} tokens" if limit else ""
        said = f"a median of {percent(share)} of the completions are cut at the limit{most}"
        on = policy.runs_on(scene.signals)
        what = "The model does not stop after its answer" if on else ""
        yield Sign(f"{said}; {on}" if on else said, STRONG, what)


def _at_limit(scene: Scene) -> Sign | None:
    """Say that all completions end at the limit, and none earns anything."""
    length, known = scene.curve("len_mean").value, policy.length_limit(scene.run, scene.signals)
    if len(length) < FEWEST or not scene.has("reward-stuck-zero"):
        return None
    limit = known.tokens if known else float(length.max())  # free answers never are of one length
    if float(np.mean(length >= (CONSTANT if known else 1) * limit)) < CONSTANT:
        return None
    return Sign(f"every completion is {limit:g} tokens long, which is the limit", LEADS + 1)


def _runs_on(scene: Scene) -> str:
    """Say that completions grew toward the limit, or that exploration had stopped as well."""
    grew = scene.rules.get("length-growth")
    if grew and (scene.lead is grew or grew.begins <= scene.lead.begins):
        return "completions were far below it, and grew"
    stopped = scene.has("entropy-collapse") and len(scene.curve("len_clipped"))
    return "the policy had stopped exploring as well" if stopped else ""


REWARD = Hypothesis(
    "reward-function",
    "A reward that does not measure the task",
    POLICY,
    _reward,
    "the highest-rewarded rollouts are the best ones when read",
    "Inspect twenty rollouts together with their rewards",
    in_rl="Watch five episodes with the reward of each step beside them",
)
EXPLORE = Hypothesis(
    "exploration",
    "Too little exploration",
    POLICY | {"grad-zero"},
    _explored,
    "entropy falls as fast at temperature 1.0 with a bonus",
    "Repeat the run at temperature 1.0 and with an entropy bonus of 0.01",
    in_rl="Repeat the run with an entropy bonus of 0.01",
)
STALE = Hypothesis(
    "stale-policy",
    "Samples of a stale policy",
    POLICY,
    _stale,
    "the ratio is 1 on the first update after each generation",
    "Print the importance ratio of the first update after a generation: it must be 1",
)
LENGTH = Hypothesis(
    "length-limit",
    "Answers cut by the length limit",
    POLICY,
    _cut,
    "completions are cut as often at twice the limit",
    "Generate 100 completions at twice the limit, and count how many end by themselves",
    _runs_on,
)
