"""Kinds of trainings drawn by a number: fourteen mechanisms that no other set has, by new plans.

Plans are those of planned.py, by numbers that were not drawn before. Seven of the mechanisms have
several optima (sines, oscillations, experts, trees, staircases, maps, elites), as small networks,
policies and fits often have; the others have one, or none that a seed would choose.
"""

from collections.abc import Callable
from functools import partial

import numpy as np
from mechanisms.common import Curves, sigmoid, softmax
from mechanisms.common import logged as printed
from planned import Parts, Plan, drawn, flipped, plan, shaken, train
from trainings import Family

from runlens.history import FloatArray

FIRST = 500  # number of the first plan


def sines(known: Plan, seed: int, factor: float) -> Curves:
    """Draw a line through a signal by sines whose frequencies are learned."""
    data = np.random.default_rng(known.number)
    at = data.uniform(-1, 1, 800)
    true = sum(data.normal() * np.sin(data.uniform(2, 14) * at + data.uniform(0, 6)) for _ in "abc")
    y = shaken(known, factor, true + 0.3 * drawn(known, data, 800))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        x = at[rows][:, None]
        turn = x * parts[0] + parts[1]
        off = (np.sin(turn) @ parts[2] - y[rows]) / len(rows)
        down = off[:, None] * np.cos(turn) * parts[2]
        value = float((off**2).sum() * len(rows))
        return [20 * (down * x).sum(0), down.sum(0), np.sin(turn).T @ off], value

    def held(parts: Parts) -> float:
        guess = np.sin(at[550:, None] * parts[0] + parts[1]) @ parts[2]
        return float(((guess - true[550:]) ** 2).mean())

    rng = np.random.default_rng(seed)
    start = [6 * rng.normal(size=12), rng.uniform(0, 6, 12), 0.3 * rng.normal(size=12)]
    return train(known, factor, rng, start, pull, held, "eval_mse", 550)


def oscillator(known: Plan, seed: int, factor: float) -> Curves:
    """Fit the frequency, damping, height and phase of two oscillations."""
    data = np.random.default_rng(known.number)
    at = data.uniform(0, 4, 700)
    real = [data.uniform(2, 6, 2), data.uniform(0.1, 0.5, 2), data.uniform(0.5, 2, 2)]

    def wave(parts: Parts, x: FloatArray) -> FloatArray:
        turn = x[:, None] * parts[0] + parts[3]
        return np.asarray(parts[2] * np.exp(-np.abs(parts[1]) * x[:, None]) * np.cos(turn))

    true = wave([*real, np.zeros(2)], at).sum(1)
    y = shaken(known, factor, true + 0.5 * drawn(known, data, 700))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        x, high = at[rows], wave(parts, at[rows])
        off = ((high.sum(1) - y[rows]) / len(rows))[:, None]
        turn = x[:, None] * parts[0] + parts[3]
        bent = parts[2] * np.exp(-np.abs(parts[1]) * x[:, None]) * np.sin(turn)
        slopes = [
            -(off * bent * x[:, None]).sum(0),
            -(off * high * x[:, None] * np.sign(parts[1])).sum(0),
            (off * high).sum(0) / np.where(np.abs(parts[2]) < 0.05, 0.05, parts[2]),
            -(off * bent).sum(0),
        ]
        return slopes, float((off**2).sum() * len(rows))

    def held(parts: Parts) -> float:
        return float(np.abs(wave(parts, at[500:]).sum(1) - true[500:]).mean())

    rng = np.random.default_rng(seed)
    start = [rng.uniform(1, 7, 2), np.full(2, 0.3), rng.uniform(0.3, 1, 2), rng.normal(size=2)]
    return train(known, factor, rng, start, pull, held, "eval_mae", 500)


def experts(known: Plan, seed: int, factor: float) -> Curves:
    """Let a gate choose among four lines; the squares held out."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(1_000, 6))
    side = (x @ data.normal(size=(6, 3))).argmax(1)
    true = (x * data.normal(size=(3, 6))[side]).sum(1)
    y = shaken(known, factor, true + drawn(known, data, 1_000))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        gate, each = softmax(x[rows] @ parts[0]), x[rows] @ parts[1]
        mean = (gate * each).sum(1)
        off = ((mean - y[rows]) / len(rows))[:, None]
        slopes = [x[rows].T @ (off * gate * (each - mean[:, None])), x[rows].T @ (off * gate)]
        return slopes, float((off**2).sum() * len(rows))

    def held(parts: Parts) -> float:
        guess = (softmax(x[700:] @ parts[0]) * (x[700:] @ parts[1])).sum(1)
        return float(((guess - true[700:]) ** 2).mean())

    rng = np.random.default_rng(seed)
    start = [0.5 * rng.normal(size=(6, 4)), 0.5 * rng.normal(size=(6, 4))]
    return train(known, factor, rng, start, pull, held, "eval_loss", 700)


def trees(known: Plan, seed: int, factor: float) -> Curves:
    """Grow a soft tree of three decisions in a row; accuracy."""
    data = np.random.default_rng(known.number)
    x = data.uniform(-1, 1, (1_100, 5))
    label = ((x[:, 0] > 0.1) ^ (x[:, 1] > x[:, 2])) | (x[:, 3] + drawn(known, data, 1_100) / 3 > 1)
    seen = flipped(known, factor, label.astype(int), 2)
    leaf = np.array([[(number >> bit) & 1 for bit in range(3)] for number in range(8)])
    node = np.array([[0, 1 + (n >> 2), 3 + 2 * (n >> 2) + ((n >> 1) & 1)] for n in range(8)])
    way = leaf[:, ::-1]

    def paths(parts: Parts, at: FloatArray) -> tuple[FloatArray, FloatArray]:
        turn = sigmoid(3 * (at @ parts[0] + parts[1]))[:, node]
        return np.where(way, turn, 1 - turn), turn

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        each, turn = paths(parts, x[rows])
        share, good = each.prod(2), sigmoid(parts[2])
        p = np.clip(share @ good, 1e-4, 1 - 1e-4)
        off = (p - seen[rows]) / (p * (1 - p)) / len(rows)
        loss = -np.log(np.where(seen[rows] == 1, p, 1 - p)).mean()
        by_node = np.zeros((len(rows), 7))
        part = off[:, None, None] * (share * good)[:, :, None] * np.where(way, 1 - turn, -turn)
        for k in range(8):
            for depth in range(3):
                by_node[:, node[k, depth]] += 3 * part[:, k, depth]
        slopes = [x[rows].T @ by_node, by_node.sum(0), share.T @ off * good * (1 - good)]
        return [5 * slope for slope in slopes], float(loss)

    def held(parts: Parts) -> float:
        p = paths(parts, x[750:])[0].prod(2) @ sigmoid(parts[2])
        return float(((p > 0.5) == label[750:]).mean())

    rng = np.random.default_rng(seed)
    start = [rng.normal(size=(5, 7)), 0.1 * rng.normal(size=7), rng.normal(size=8)]
    return train(known, factor, rng, start, pull, held, "eval_accuracy", 750)


def staircase(known: Plan, seed: int, factor: float) -> Curves:
    """Learn a sum of products of one, two and three signs with a hidden layer, step by step."""
    data = np.random.default_rng(known.number)
    x = data.choice([-1.0, 1.0], (1_000, 10))
    true = x[:, 0] + x[:, 0] * x[:, 1] + x[:, 0] * x[:, 1] * x[:, 2]
    y = shaken(known, factor, true + 0.5 * drawn(known, data, 1_000))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        act = np.maximum(x[rows] @ parts[0] + parts[1], 0)
        off = (act @ parts[2] - y[rows]) / len(rows)
        down = off[:, None] * parts[2] * (act > 0)
        value = float((off**2).sum() * len(rows))
        return [x[rows].T @ down, down.sum(0), act.T @ off], value

    def held(parts: Parts) -> float:
        act = np.maximum(x[700:] @ parts[0] + parts[1], 0)
        return float(((act @ parts[2] - true[700:]) ** 2).mean())

    rng = np.random.default_rng(seed)
    start = [0.4 * rng.normal(size=(10, 24)), 0.1 * rng.normal(size=24), 0.2 * rng.normal(size=24)]
    return train(known, factor, rng, start, pull, held, "eval_loss", 700)


def maps(known: Plan, seed: int, factor: float) -> Curves:
    """Lay a chain of twelve places through a cloud, neighbours together (Kohonen)."""
    data = np.random.default_rng(known.number)
    turn = data.uniform(0, 9, 900)
    x = np.stack([turn * np.cos(turn), turn * np.sin(turn)], 1) / 4
    seen = shaken(known, factor, x) + 0.3 * drawn(known, data, 900, 2)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        far = ((seen[rows][:, None] - parts[0]) ** 2).sum(2)
        near = np.exp(-0.5 * (far.argmin(1)[:, None] - np.arange(12)) ** 2)
        slope = (near[:, :, None] * (parts[0] - seen[rows][:, None])).sum(0) / len(rows)
        return [5 * slope], float(far.min(1).mean())

    def held(parts: Parts) -> float:
        return float(((x[600:, None] - parts[0]) ** 2).sum(2).min(1).mean())

    rng = np.random.default_rng(seed)
    return train(known, factor, rng, [rng.normal(size=(12, 2))], pull, held, "eval_mse", 600)


def stream(known: Plan, seed: int, factor: float) -> Curves:
    """Tell six classes by the margin to the next one; the mean of precision and recall."""
    data = np.random.default_rng(known.number)
    label = data.integers(6, size=1_100)
    x = data.normal(size=(6, 16))[label] + 1.5 * drawn(known, data, 1_100, 16)
    seen = flipped(known, factor, label, 6)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        scores, own = x[rows] @ parts[0], seen[rows]
        line = np.arange(len(rows))
        right = scores[line, own].copy()
        scores[line, own] = -np.inf
        other = scores.argmax(1)
        lost = np.maximum(1 + scores[line, other] - right, 0)
        signs = np.zeros_like(scores)
        signs[line, other] += lost > 0
        signs[line, own] -= lost > 0
        return [x[rows].T @ signs / len(rows)], float(lost.mean())

    def held(parts: Parts) -> float:
        guess, real = (x[750:] @ parts[0]).argmax(1), label[750:]
        both = [((guess == k) & (real == k)).sum() for k in range(6)]
        either = [(guess == k).sum() + (real == k).sum() for k in range(6)]
        return float(np.mean([2 * b / max(e, 1) for b, e in zip(both, either, strict=True)]))

    rng = np.random.default_rng(seed)
    start = [0.2 * rng.normal(size=(16, 6))]
    return train(known, factor, rng, start, pull, held, "eval_f1", 750)


def forecast(known: Plan, seed: int, factor: float) -> Curves:
    """Forecast four series that drive each other by their last three values."""
    data = np.random.default_rng(known.number)
    pulls = 0.25 * data.normal(size=(12, 4))
    past = [data.normal(size=4) for _ in "abc"]
    for _ in range(1_000):
        past.append(np.tanh(np.concatenate(past[-3:]) @ pulls) + drawn(known, data, 4) / 2)
    series = np.array(past)
    x = np.concatenate([series[k : k + 1_000] for k in range(3)], axis=1)
    y, seen = series[3:], shaken(known, factor, series[3:])

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        off = x[rows] @ parts[0] + parts[1] - seen[rows]
        way = np.tanh(2 * off) / len(rows)
        return [x[rows].T @ way, way.sum(0)], float(np.abs(off).mean())

    def held(parts: Parts) -> float:
        return float(np.abs(x[700:] @ parts[0] + parts[1] - y[700:]).mean())

    rng = np.random.default_rng(seed)
    start = [0.3 * rng.normal(size=(12, 4)), np.zeros(4)]
    return train(known, factor, rng, start, pull, held, "eval_mae", 700)


def couplings(known: Plan, seed: int, factor: float) -> Curves:
    """Find which of fourteen spins pull on which, each by all the others."""
    data = np.random.default_rng(known.number)
    pulls = np.triu(data.normal(size=(14, 14)) * (data.random((14, 14)) < 0.3), 1)
    pulls = pulls + pulls.T
    spins = data.choice([-1.0, 1.0], (900, 14))
    for _ in range(6):
        for k in range(14):
            chance = sigmoid(2 * spins @ pulls[:, k] / (1 + known.noise))
            spins[:, k] = np.where(data.random(900) < chance, 1.0, -1.0)
    wrong = np.random.default_rng(known.number + 5).random(spins.shape)
    seen = np.where(wrong < known.moved(factor)[3] / 2, -spins, spins)

    def nll(parts: Parts, rows: FloatArray) -> FloatArray:
        return np.asarray(np.log1p(np.exp(-2 * rows * (rows @ (parts[0] * (1 - np.eye(14)))))))

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        own = seen[rows]
        off = -2 * own * (1 - np.exp(-nll(parts, own))) / len(rows)
        return [own.T @ off * (1 - np.eye(14))], float(nll(parts, own).mean())

    rng = np.random.default_rng(seed)
    start = [0.2 * rng.normal(size=(14, 14))]
    return train(known, factor, rng, start, pull,
                 lambda p: float(nll(p, spins[650:]).mean()), "eval_nll", 650)  # fmt: skip


def selftaught(known: Plan, seed: int, factor: float) -> Curves:
    """Learn four classes from 40 labels, and from its own sure guesses on the rest; accuracy."""
    data = np.random.default_rng(known.number)
    label = data.integers(4, size=1_200)
    x = 0.9 * data.normal(size=(4, 10))[label] + drawn(known, data, 1_200, 10)
    seen = flipped(known, factor, label, 4)

    def pull(parts: Parts, rows: FloatArray, _: np.random.Generator) -> tuple[Parts, float]:
        share = softmax(x[rows] @ parts[0])
        told = rows % 800 < 40
        goal = np.where(told, seen[rows], share.argmax(1))
        sure = told * 4.0 + ~told * (share.max(1) > 0.8)
        line = np.arange(len(rows))
        loss = float(-(sure * np.log(share[line, goal] + 1e-9)).mean())
        share[line, goal] -= 1
        return [x[rows].T @ (sure[:, None] * share) / len(rows)], loss

    rng = np.random.default_rng(seed)
    start = [0.3 * rng.normal(size=(10, 4))]
    return train(known, factor, rng, start, pull,
                 lambda p: float(((x[800:] @ p[0]).argmax(1) == label[800:]).mean()),
                 "eval_accuracy", 800)  # fmt: skip


def masked(known: Plan, seed: int, factor: float) -> Curves:
    """Fill in a third of sixteen numbers that hang together by the others."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(1_000, 4)) @ data.normal(size=(4, 16)) / 2 + drawn(known, data, 1_000, 16)
    seen = shaken(known, factor, x)
    shown = np.random.default_rng(known.number + 9).random((350, 16)) > 1 / 3

    def pull(parts: Parts, rows: FloatArray, rng: np.random.Generator) -> tuple[Parts, float]:
        kept = rng.random((len(rows), 16)) > 1 / 3
        given = seen[rows] * kept
        off = np.where(kept, 0.0, given @ parts[0] - seen[rows]) / len(rows)
        return [given.T @ off], float((off**2).sum() * len(rows) / max((~kept).sum(), 1))

    def held(parts: Parts) -> float:
        off = (x[650:] * shown) @ parts[0] - x[650:]
        return float((off[~shown] ** 2).mean())

    rng = np.random.default_rng(seed)
    start = [0.1 * rng.normal(size=(16, 16))]
    return train(known, factor, rng, start, pull, held, "eval_loss", 650)


def valley(known: Plan, seed: int, factor: float) -> Curves:
    """Swing a cart out of a valley by Q-learning on tiles; the mean return of three tries."""
    rng = np.random.default_rng(seed)
    value, returns = np.zeros((12, 12, 3)), []
    rate = 0.3 * known.rate * (factor if known.knob != "labels" else factor**0.5)
    for number in range(known.steps):
        total = 0.0
        for _ in "123":
            at, speed = -0.5 + 0.1 * rng.normal(), 0.0
            for _ in range(60):
                tile = int(np.clip((at + 1.2) * 6.6, 0, 11)), int(np.clip(speed * 8 + 6, 0, 11))
                free = rng.random() < 0.1
                act = int(rng.integers(3)) if free else int(value[tile].argmax())
                push = 0.1 * (act - 1) + 0.02 * float(drawn(known, rng, 1)[0])
                speed = float(np.clip(speed + push - 0.12 * np.cos(3 * at), -0.7, 0.7))
                at = float(np.clip(at + speed / 3, -1.2, 0.6))
                new = int(np.clip((at + 1.2) * 6.6, 0, 11)), int(np.clip(speed * 8 + 6, 0, 11))
                done = at >= 0.6
                goal = -1.0 + (0.0 if done else 0.98 * value[new].max())
                now = min(rate * max(known.at(number), 0.1), 1.0)
                value[(*tile, act)] += now * (goal - value[(*tile, act)])
                total -= 1
                if done:
                    break
        returns.append(total / 3)
    return printed(known.digits, reward=returns)


def elites(known: Plan, seed: int, factor: float) -> Curves:
    """Draw points about a mean that moves to the best fifth of them, over a bumpy hill."""
    rng, data = np.random.default_rng(seed), np.random.default_rng(known.number)
    top, wide = data.normal(size=5), np.full(5, 1.0)
    mean, rewards = 1.5 * rng.normal(size=5), []
    rate = min(0.25 * known.rate * factor, 1.0)
    for _ in range(known.steps // 2):
        tried = mean + wide * rng.normal(size=(20, 5))
        off = tried - top
        got = -(off**2).mean(1) / 2 + 0.6 * np.cos(4 * off).mean(1)
        best = tried[np.argsort(got + 0.3 * drawn(known, rng, 20))[-4:]]
        mean = mean + rate * (best.mean(0) - mean)
        wide = np.maximum(wide + rate * (best.std(0) - wide), 0.15)
        rewards.append(float(got.mean()) + 0.05 * float(drawn(known, rng, 1)[0]))
    return printed(known.digits, reward=rewards)


def pricing(known: Plan, seed: int, factor: float) -> Curves:
    """Set five prices by what was earned at a little more and a little less."""
    rng, data = np.random.default_rng(seed), np.random.default_rng(known.number)
    reach, dear = data.uniform(1, 3, 5), data.uniform(0.5, 1.5, 5)
    price, rewards = rng.uniform(0.2, 1, 5), []
    rate = 0.08 * known.rate * factor

    def earned(asked: FloatArray) -> float:
        sold = reach * np.exp(-dear * asked) * (1 + 0.2 * drawn(known, rng, 5))
        return float((asked * sold).sum())

    for step in range(known.steps):
        way = rng.choice([-1.0, 1.0], 5)
        more, less = earned(price + 0.1 * way), earned(price - 0.1 * way)
        move = rate * known.at(step) * (more - less) / 0.2 * way
        price = np.clip(price + np.clip(move, -0.3, 0.3), 0.05, 6)
        rewards.append((more + less) / 2)
    return printed(known.digits, reward=rewards[:: known.every])


MECHANISMS: tuple[tuple[Callable[[Plan, int, float], Curves], str], ...] = (
    (sines, "eval_mse"), (oscillator, "eval_mae"), (experts, "eval_loss"),
    (trees, "eval_accuracy"), (staircase, "eval_loss"), (maps, "eval_mse"), (stream, "eval_f1"),
    (forecast, "eval_mae"), (couplings, "eval_nll"), (selftaught, "eval_accuracy"),
    (masked, "eval_loss"), (valley, "reward"), (elites, "reward"), (pricing, "reward"),
)  # fmt: skip


def further(first: int, many: int) -> dict[str, Family]:
    """Draw kinds of trainings, each mechanism in turn."""
    found = {}
    for number in range(first, first + many):
        made, metric = MECHANISMS[number % len(MECHANISMS)]
        name = f"{made.__name__} {metric} {FIRST + number}"
        drawn_plan = plan(FIRST + number)
        found[name] = Family(partial(made, drawn_plan), metric, (1.0, 0.12, 0.85, 0.4))
    return found
