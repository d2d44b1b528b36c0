"""Kinds of trainings drawn by a number: fourteen mechanisms that generated.py does not have.

A plan draws what differs between two configurations (rate, data, weight decay, labels or batch),
the law of the noise, the optimiser, the schedule, the length, how often is logged and evaluated,
and to how many digits. Metrics have names whose words alone say which direction is better.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from mechanisms.common import Curves, sigmoid, softmax
from mechanisms.common import logged as printed
from trainings import Family

from runlens.history import FloatArray

Parts = list[FloatArray]
Pull = Callable[[Parts, FloatArray, np.random.Generator], tuple[Parts, float]]
SCHEDULES = ("constant", "one cycle", "inverse root", "restarts", "exponential", "warm-up, linear")
KNOBS = ("rate", "rate", "data", "decay", "labels", "batch")
LAWS = ("normal", "laplace", "t", "lognormal", "bursts")


class Plan(NamedTuple):
    """How one kind is trained."""

    number: int  # of the data
    knob: str  # what a factor below 1 takes away or adds
    law: str
    noise: float
    optimiser: str
    schedule: str
    rate: float
    steps: int
    evals: int
    every: int  # steps between two logged train losses
    batch: int
    average: float  # decay of the weights' moving average that is evaluated; 0: none
    digits: int

    def at(self, step: int) -> float:
        """Return the share of the peak rate at a step."""
        share = step / self.steps
        return {
            "constant": 1.0,
            "one cycle": share / 0.3 if share < 0.3 else max((1 - share) / 0.7, 0.02),
            "inverse root": 1 / (1 + 9 * share) ** 0.5,
            "restarts": 0.5 * (1 + float(np.cos(np.pi * (2 * share % 1.0)))),
            "exponential": float(np.exp(-4 * share)),
            "warm-up, linear": min(share / 0.05, 1 - share),
        }[self.schedule]

    def moved(self, factor: float) -> tuple[float, float, float, float, float]:
        """Return (rate, share of data, weight decay, share of wrong labels, batch) of a factor."""
        less = 1 - factor
        return (
            self.rate * (factor if self.knob == "rate" else 1.0),
            factor if self.knob == "data" else 1.0,
            0.3 * less if self.knob == "decay" else 0.0,
            0.4 * less if self.knob == "labels" else 0.0,
            self.batch * (factor if self.knob == "batch" else 1.0),
        )


def plan(number: int) -> Plan:
    """Draw a plan."""
    rng = np.random.default_rng(70_000 + number)
    return Plan(
        number, str(rng.choice(KNOBS)), str(rng.choice(LAWS)), float(rng.choice([0.3, 0.7, 1.3])),
        str(rng.choice(["sgd", "momentum", "adam", "sign"])), str(rng.choice(SCHEDULES)),
        float(np.exp(rng.uniform(-0.7, 0.7))), int(rng.choice([100, 200, 400, 700])),
        int(rng.choice([5, 7, 10, 15, 25, 45, 80])), int(rng.choice([1, 3, 5])),
        int(rng.choice([8, 24, 48])), float(rng.choice([0, 0, 0, 0.95])),
        int(rng.choice([3, 4, 6])),
    )  # fmt: skip


def drawn(known: Plan, rng: np.random.Generator, *shape: int) -> FloatArray:
    """Return noise of the plan's law and size."""
    made = {
        "normal": lambda: rng.normal(size=shape),
        "laplace": lambda: rng.laplace(size=shape) / 2**0.5,
        "t": lambda: rng.standard_t(3, shape) / 1.73,
        "lognormal": lambda: (rng.lognormal(0, 0.7, shape) - 1.28) / 1.02,
        "bursts": lambda: rng.normal(size=shape) * np.where(rng.random(shape) < 0.05, 4.0, 0.5),
    }[known.law]()
    return np.asarray(known.noise * made, dtype=np.float64)


def train(
    known: Plan, factor: float, rng: np.random.Generator, parts: Parts, pull: Pull,
    held: Callable[[Parts], float], name: str, many: int,
) -> Curves:  # fmt: skip
    """Train parts by the slopes of `pull` over rows of `many`; evaluate with `held`."""
    rate, share, decay, _, size = known.moved(factor)
    batch, rows = max(2, round(size)), max(12, round(many * share))
    first, second = ([np.zeros_like(part) for part in parts] for _ in "ab")
    kept, losses, evals = [part.copy() for part in parts], [], []
    for step in range(1, known.steps + 1):
        slopes, value = pull(parts, rng.integers(rows, size=batch), rng)
        now = 0.05 * rate * known.at(step)
        for i, slope in enumerate(slopes):
            first[i] = 0.9 * first[i] + 0.1 * slope
            second[i] = 0.99 * second[i] + 0.01 * slope**2
            way = {
                "sgd": 2 * np.clip(slope, -3, 3),
                "momentum": 2 * np.clip(first[i], -3, 3),
                "adam": first[i] / (np.sqrt(second[i]) + 1e-6) / (1 - 0.9**step),
                "sign": 0.5 * np.sign(slope),
            }[known.optimiser]
            parts[i] = parts[i] - now * (way + decay * parts[i])
        kept = [
            known.average * k + (1 - known.average) * p for k, p in zip(kept, parts, strict=True)
        ]
        losses.append(value)
        if step % max(1, known.steps // known.evals) == 0:
            evals.append(held(kept))
    return printed(known.digits, train_loss=losses[:: known.every], **{name: evals})


def flipped(known: Plan, factor: float, label: np.ndarray, classes: int) -> np.ndarray:
    """Return labels of which a share is wrong, the same for every seed."""
    rng = np.random.default_rng(known.number + 5)
    wrong = rng.random(len(label)) < known.moved(factor)[3]
    return np.where(wrong, rng.integers(classes, size=len(label)), label)


def shaken(known: Plan, factor: float, goal: FloatArray) -> FloatArray:
    """Return goals to which as much noise of one draw is added as labels would be wrong."""
    rng = np.random.default_rng(known.number + 5)
    return goal + known.moved(factor)[3] * goal.std() * 2 * rng.normal(size=goal.shape)


def sparse(known: Plan, seed: int, factor: float) -> Curves:
    """Find few true weights of many by a lasso."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(900, 40))
    true = x @ (data.normal(size=40) * (data.random(40) < 0.15))
    y = shaken(known, factor, true + drawn(known, data, 900))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        off = x[rows] @ parts[0] - y[rows]
        return [x[rows].T @ off / len(rows) + 0.05 * np.sign(parts[0])], float((off**2).mean())

    def held(parts: Parts) -> float:
        return float(((x[600:] @ parts[0] - true[600:]) ** 2).mean())

    rng = np.random.default_rng(seed)
    return train(known, factor, rng, [0.2 * rng.normal(size=40)], pull, held, "eval_mse", 600)


def ordinal(known: Plan, seed: int, factor: float) -> Curves:
    """Rank into five grades by thresholds on a line."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(1_000, 10))
    grade = np.digitize(
        x @ data.normal(size=10) / 2 + drawn(known, data, 1_000), [-2, -0.7, 0.7, 2]
    )
    seen = flipped(known, factor, grade, 5)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        above = seen[rows][:, None] > np.arange(4)
        share = sigmoid((x[rows] @ parts[0])[:, None] - parts[1])
        loss = -np.log(np.where(above, share, 1 - share) + 1e-9).sum(1).mean()
        off = (share - above) / len(rows)
        return [x[rows].T @ off.sum(1), -off.sum(0)], float(loss)

    def held(parts: Parts) -> float:
        guess = (sigmoid((x[700:] @ parts[0])[:, None] - parts[1]) > 0.5).sum(1)
        return float(np.abs(guess - grade[700:]).mean())

    rng = np.random.default_rng(seed)
    start = [0.3 * rng.normal(size=10), np.array([-1.0, -0.3, 0.3, 1.0])]
    return train(known, factor, rng, start, pull, held, "eval_mae", 700)


def density(known: Plan, seed: int, factor: float) -> Curves:
    """Fit a density of six dimensions by a triangular flow."""
    data = np.random.default_rng(known.number)
    x = (data.normal(size=(900, 6)) + drawn(known, data, 900, 6)) @ data.normal(size=(6, 6))
    y = shaken(known, factor, x)
    lower = np.tril_indices(6, -1)

    def whole(parts: Parts) -> FloatArray:
        made = np.diag(np.exp(np.clip(parts[1], -5, 3)))
        made[lower] = parts[0]
        return made

    def nll(parts: Parts, rows: FloatArray) -> FloatArray:
        return 0.5 * ((rows @ whole(parts).T) ** 2).sum(1) - parts[1].sum()

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        slope = (y[rows] @ whole(parts).T).T @ y[rows] / len(rows)
        diagonal = np.diag(slope) * np.exp(np.clip(parts[1], -5, 3)) - 1
        return [slope[lower], diagonal], float(nll(parts, y[rows]).mean())

    rng = np.random.default_rng(seed)
    start = [0.1 * rng.normal(size=15), 0.3 * rng.normal(size=6) - 1]
    return train(
        known, factor, rng, start, pull, lambda p: float(nll(p, x[600:]).mean()), "eval_nll", 600
    )


def transcripts(known: Plan, seed: int, factor: float) -> Curves:
    """Read symbols off noisy frames; the share of wrong ones."""
    data = np.random.default_rng(known.number)
    symbol = data.integers(8, size=1_200)
    frames = data.normal(size=(8, 14))[symbol] + 1.5 * drawn(known, data, 1_200, 14)
    seen = flipped(known, factor, symbol, 8)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        share = softmax(frames[rows] @ parts[0])
        loss = -np.log(share[np.arange(len(rows)), seen[rows]] + 1e-9).mean()
        share[np.arange(len(rows)), seen[rows]] -= 1
        return [frames[rows].T @ share / len(rows)], float(loss)

    rng = np.random.default_rng(seed)
    return train(known, factor, rng, [0.3 * rng.normal(size=(14, 8))], pull,
                 lambda p: float(((frames[800:] @ p[0]).argmax(1) != symbol[800:]).mean()),
                 "eval_wer", 800)  # fmt: skip


def baskets(known: Plan, seed: int, factor: float) -> Curves:
    """Recommend by pairs of what was bought and what was not; hits among ten."""
    data = np.random.default_rng(known.number)
    taste, goods = data.normal(size=(60, 4)), data.normal(size=(80, 4))
    order = np.argsort(-(taste @ goods.T + 1.5 * drawn(known, data, 60, 80)), axis=1)
    bought, last = order[:, 1:9], order[:, 0]
    wrong = data.random((60, 8)) < known.moved(factor)[3]
    bought = np.where(wrong, data.integers(80, size=(60, 8)), bought)

    def pull(parts: Parts, rows: FloatArray, rng: np.random.Generator) -> tuple[Parts, float]:
        who, what, other = rows // 8, bought[rows // 8, rows % 8], rng.integers(80, size=len(rows))
        apart = parts[1][what] - parts[1][other]
        share = sigmoid((parts[0][who] * apart).sum(1))
        off = (share - 1)[:, None] / len(rows) * 8
        slopes = [np.zeros_like(part) for part in parts]
        np.add.at(slopes[0], who, off * apart)
        np.add.at(slopes[1], what, off * parts[0][who])
        np.add.at(slopes[1], other, -off * parts[0][who])
        return slopes, float(-np.log(share + 1e-9).mean())

    def held(parts: Parts) -> float:
        scores = parts[0] @ parts[1].T
        np.put_along_axis(scores, bought, -np.inf, 1)
        return float(((scores > scores[np.arange(60), last][:, None]).sum(1) < 10).mean())

    rng = np.random.default_rng(seed)
    start = [0.3 * rng.normal(size=(60, 5)), 0.3 * rng.normal(size=(80, 5))]
    return train(known, factor, rng, start, pull, held, "eval_hits@10", 480)


def shared(known: Plan, seed: int, factor: float) -> Curves:
    """Learn six goals through a bottleneck that they share."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(800, 15))
    y = x @ data.normal(size=(15, 3)) @ data.normal(size=(3, 6)) / 4 + drawn(known, data, 800, 6)
    seen = shaken(known, factor, y)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        inner = x[rows] @ parts[0]
        off = (inner @ parts[1] - seen[rows]) / len(rows)
        return [x[rows].T @ (off @ parts[1].T), inner.T @ off], float(
            (off**2).mean() * len(rows) ** 2
        )

    def held(parts: Parts) -> float:
        off = x[550:] @ parts[0] @ parts[1] - y[550:]
        return float(1 - (off**2).sum() / ((y[550:] - y[550:].mean(0)) ** 2).sum())

    rng = np.random.default_rng(seed)
    start = [0.3 * rng.normal(size=(15, 4)), 0.3 * rng.normal(size=(4, 6))]
    return train(known, factor, rng, start, pull, held, "eval_r2", 550)


def deblurring(known: Plan, seed: int, factor: float) -> Curves:
    """Learn the filter that undoes a blur; signal to noise in decibel."""
    data = np.random.default_rng(known.number)
    sharp = np.repeat(data.normal(size=200), 5)
    blurred = np.convolve(sharp, np.hanning(9) / np.hanning(9).sum(), "same")
    blurred = blurred + 0.2 * drawn(known, data, 1_000)
    windows = np.lib.stride_tricks.sliding_window_view(blurred, 15)
    goal, seen = sharp[7:-7], shaken(known, factor, sharp)[7:-7]

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        off = windows[rows] @ parts[0] - seen[rows]
        return [windows[rows].T @ off / len(rows)], float((off**2).mean())

    def held(parts: Parts) -> float:
        return float(-10 * np.log10(((windows[700:] @ parts[0] - goal[700:]) ** 2).mean()))

    rng = np.random.default_rng(seed)
    return train(known, factor, rng, [0.1 * rng.normal(size=15)], pull, held, "eval_psnr", 700)


def spirals(known: Plan, seed: int, factor: float) -> Curves:
    """Part two spirals with bells that move."""
    data = np.random.default_rng(known.number)
    side, turn = data.integers(2, size=900), data.uniform(0.5, 2.5, 900) * np.pi
    x = np.stack([turn * np.cos(turn + np.pi * side), turn * np.sin(turn + np.pi * side)], 1) / 4
    x = x + 0.1 * drawn(known, data, 900, 2)
    seen = flipped(known, factor, side, 2)

    def bells(parts: Parts, at: FloatArray) -> FloatArray:
        return np.asarray(np.exp(-2 * ((at[:, None] - parts[0]) ** 2).sum(2)))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        high = bells(parts, x[rows])
        share = sigmoid(high @ parts[1])
        off = (share - seen[rows]) / len(rows)
        loss = -np.log(np.where(seen[rows] == 1, share, 1 - share) + 1e-9).mean()
        part = (off[:, None] * high * parts[1])[:, :, None] * 4 * (x[rows][:, None] - parts[0])
        return [5 * part.sum(0), 5 * high.T @ off], float(loss)

    def held(parts: Parts) -> float:
        share = sigmoid(bells(parts, x[600:]) @ parts[1])
        return float(-np.log(np.where(side[600:] == 1, share, 1 - share) + 1e-9).mean())

    rng = np.random.default_rng(seed)
    start = [rng.normal(size=(30, 2)), 0.5 * rng.normal(size=30)]
    return train(known, factor, rng, start, pull, held, "eval_loss", 600)


def topics(known: Plan, seed: int, factor: float) -> Curves:
    """Find the topics of documents by their counts of words."""
    data = np.random.default_rng(known.number)
    mix, words = data.dirichlet([0.3] * 4, 90), data.dirichlet([0.2] * 50, 4)
    share = mix @ words
    share = (1 - known.moved(factor)[3]) * share + known.moved(factor)[3] / 50
    counts = np.array([data.multinomial(60, row) for row in share])
    other = np.array([data.multinomial(60, row) for row in mix @ words])

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        guess = softmax(parts[0][rows] @ parts[1])
        off = guess - counts[rows] / 60
        slopes = [np.zeros_like(parts[0]), parts[0][rows].T @ off / len(rows) * 5]
        np.add.at(slopes[0], rows, off @ parts[1].T)
        return slopes, float(-(counts[rows] / 60 * np.log(guess + 1e-9)).sum(1).mean())

    def held(parts: Parts) -> float:
        guess = softmax(parts[0] @ parts[1])
        return float(np.exp(-(other / 60 * np.log(guess + 1e-9)).sum(1).mean()))

    rng = np.random.default_rng(seed)
    start = [0.3 * rng.normal(size=(90, 5)), 0.3 * rng.normal(size=(5, 50))]
    return train(known, factor, rng, start, pull, held, "eval_perplexity", 90)


def cooccurrence(known: Plan, seed: int, factor: float) -> Curves:
    """Embed words by how often they stand together; correlation with what was left out."""
    data = np.random.default_rng(known.number)
    true = data.normal(size=(40, 3))
    goal = true @ true.T / 2 + drawn(known, data, 40, 40)
    one, two = (part.ravel() for part in np.indices((40, 40)))
    order = data.permutation(1_600)
    one, two, y = one[order], two[order], goal.ravel()[order]
    seen = shaken(known, factor, y)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        off = (parts[0][one[rows]] * parts[1][two[rows]]).sum(1) - seen[rows]
        slopes = [np.zeros_like(part) for part in parts]
        np.add.at(slopes[0], one[rows], off[:, None] * parts[1][two[rows]] / 4)
        np.add.at(slopes[1], two[rows], off[:, None] * parts[0][one[rows]] / 4)
        return slopes, float((off**2).mean())

    def held(parts: Parts) -> float:
        guess = (parts[0][one[1_100:]] * parts[1][two[1_100:]]).sum(1)
        ranks = [np.argsort(np.argsort(v)) for v in (guess, y[1_100:])]
        return float(np.corrcoef(ranks[0], ranks[1])[0, 1])

    rng = np.random.default_rng(seed)
    start = [0.4 * rng.normal(size=(40, 4)), 0.4 * rng.normal(size=(40, 4))]
    return train(known, factor, rng, start, pull, held, "eval_spearman", 1_100)


def claims(known: Plan, seed: int, factor: float) -> Curves:
    """Predict sums of damage: a gamma deviance with its logarithm as link."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(1_000, 9))
    level = x @ data.normal(size=9) / 4
    y = np.exp(level) * data.gamma(2, 0.5, 1_000) * np.exp(0.3 * drawn(known, data, 1_000))
    seen = y * np.exp(
        2 * known.moved(factor)[3] * np.random.default_rng(known.number + 5).normal(size=1_000)
    )

    def loss(guess: FloatArray, goal: FloatArray) -> float:
        return float((goal * np.exp(-guess) + guess).mean())

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        guess = np.clip(x[rows] @ parts[0], -5, 5)
        off = 1 - np.minimum(seen[rows] * np.exp(-guess), 9)
        return [x[rows].T @ off / len(rows)], loss(guess, seen[rows])

    rng = np.random.default_rng(seed)

    def held(parts: Parts) -> float:
        return loss(np.clip(x[650:] @ parts[0], -5, 5), y[650:])

    return train(known, factor, rng, [0.4 * rng.normal(size=9)], pull, held, "eval_loss", 650)


def queueing(known: Plan, seed: int, factor: float) -> Curves:
    """Steer a queue by three thresholds, searched by two noisy trials a step (SPSA)."""
    rng = np.random.default_rng(seed)
    at, rewards = rng.normal(size=3), []
    best = np.random.default_rng(known.number).normal(size=3)
    rate = 0.2 * known.moved(factor)[0] * (1 if known.knob == "rate" else factor)
    for step in range(1, known.steps + 1):
        way = rng.choice([-1.0, 1.0], 3)
        two = [
            -((at + s * 0.3 * way - best) ** 2).sum() + float(drawn(known, rng, 1)[0])
            for s in (1, -1)
        ]
        at = at + rate * known.at(step) * np.clip((two[0] - two[1]) / 0.6, -3, 3) * way / 3
        rewards.append(-float(((at - best) ** 2).sum()) + 0.3 * float(drawn(known, rng, 1)[0]))
    return printed(known.digits, reward=rewards[:: known.every])


def arms(known: Plan, seed: int, factor: float) -> Curves:
    """Play twenty arms by sampling what they may give (Thompson)."""
    rng = np.random.default_rng(seed)
    mean = 0.5 * np.random.default_rng(known.number).normal(size=20)
    total, played, rewards = np.zeros(20), np.full(20, 1.0), []
    for _ in range(known.steps):
        block = []
        for _ in range(4):
            arm = int(np.argmax(total / played + rng.normal(size=20) / (factor * played) ** 0.5))
            block.append(mean[arm] + float(drawn(known, rng, 1)[0]))
            total[arm] += block[-1]
            played[arm] += 1
        rewards.append(float(np.mean(block)))
    return printed(known.digits, reward=rewards)


def tracking(known: Plan, seed: int, factor: float) -> Curves:
    """Follow a system that drifts with an adaptive filter; the error is logged as an average."""
    rng = np.random.default_rng(seed)
    true, guess, mean, losses = rng.normal(size=8), np.zeros(8), 0.0, []
    rate = min(0.02 * known.rate * factor, 0.06)
    for step in range(2 * known.steps):
        true = true + 0.02 * rng.normal(size=8)
        x = rng.normal(size=8)
        off = float((true - guess) @ x + drawn(known, rng, 1)[0])
        guess = guess + rate * np.clip(off, -5, 5) * x
        mean = off**2 if not step else 0.95 * mean + 0.05 * min(off**2, 50)
        losses.append(mean)
    return printed(known.digits, train_loss=losses[:: 2 * known.every])


MECHANISMS: tuple[tuple[Callable[[Plan, int, float], Curves], str], ...] = (
    (sparse, "eval_mse"), (ordinal, "eval_mae"), (density, "eval_nll"), (transcripts, "eval_wer"),
    (baskets, "eval_hits@10"), (shared, "eval_r2"), (deblurring, "eval_psnr"),
    (spirals, "eval_loss"), (topics, "eval_perplexity"), (cooccurrence, "eval_spearman"),
    (claims, "eval_loss"), (queueing, "reward"), (arms, "reward"), (tracking, "train_loss"),
)  # fmt: skip


def planned(first: int, many: int) -> dict[str, Family]:
    """Draw kinds of trainings, each mechanism in turn."""
    found = {}
    for number in range(first, first + many):
        made, metric = MECHANISMS[number % len(MECHANISMS)]
        name = f"{made.__name__} {metric} {number}"
        found[name] = Family(partial(made, plan(number)), metric, (1.0, 0.12, 0.85, 0.4))
    return found
