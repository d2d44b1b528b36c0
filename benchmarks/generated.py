"""Kinds of trainings drawn by a number: ten mechanisms, each with its size, schedule and noise.

`families(first, many)` draws them: which mechanism, how much data, which noise, batch, schedule,
how many evaluations over how many samples, to how many digits. What is fitted on some numbers is
asked of others.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np
from networks import rate_at
from trainings import Family

from runlens.history import FloatArray

Curves = dict[str, FloatArray]
SCHEDULES = ("constant", "constant", "linear", "cosine", "steps", "stable then down")


class Plan(NamedTuple):
    """How one kind is trained."""

    number: int  # of the data
    rate: float
    steps: int
    evals: int
    batch: int
    schedule: str
    noise: float
    average: float  # decay of the weights' moving average that is evaluated; 0: none
    digits: int

    def at(self, step: int) -> float:
        """Return the share of the peak rate at a step."""
        return rate_at(self.schedule, step / self.steps)

    @property
    def every(self) -> int:
        """Steps between two evaluations."""
        return max(1, self.steps // self.evals)


def plan(number: int) -> Plan:
    """Draw a plan."""
    rng = np.random.default_rng(90_000 + number)
    return Plan(
        number, float(np.exp(rng.uniform(-0.7, 0.7))), int(rng.choice([120, 240, 400])),
        int(rng.choice([5, 8, 12, 20, 30, 60])), int(rng.choice([4, 16, 32, 64])),
        str(rng.choice(SCHEDULES)), float(rng.choice([0.2, 0.6, 1.2])),
        float(rng.choice([0, 0, 0, 0.9, 0.98])), int(rng.choice([3, 4, 5, 7])),
    )  # fmt: skip


def logged(known: Plan, **curves: list[float]) -> Curves:
    """Return the curves as they are printed."""
    return {name: np.round(np.array(v, dtype=float), known.digits) for name, v in curves.items()}


def linear(known: Plan, loss: str, seed: int, factor: float) -> Curves:
    """Fit a line or a plane between two classes by stochastic gradient descent."""
    data = np.random.default_rng(known.number)
    wide = int(data.choice([5, 20, 60]))
    x = data.normal(size=(1_000, wide)) * data.uniform(0.2, 1.5, wide)
    goal = x @ data.normal(size=wide) / wide**0.5 + known.noise * data.standard_t(4, 1_000)
    goal = (goal > 0) * 2.0 - 1 if loss == "logistic" else goal
    rng, w = np.random.default_rng(seed), np.zeros(wide)
    w += 0.3 * rng.normal(size=wide) * float(data.random() < 0.5)
    kept, train, evals, score = w.copy(), [], [], []
    for step in range(1, known.steps + 1):
        rows = rng.integers(600, size=known.batch)
        pull, value = _linear(loss, x[rows] @ w, goal[rows])
        w = w - 0.1 * known.rate * factor * known.at(step - 1) * x[rows].T @ pull / known.batch
        kept = known.average * kept + (1 - known.average) * w
        train.append(value)
        if step % known.every == 0:
            held = x[600:] @ kept
            evals.append(_linear(loss, held, goal[600:])[1])
            score.append(float((held * goal[600:] > 0).mean()))
    more = {"eval_accuracy": score} if loss == "logistic" else {}
    return logged(known, train_loss=train[::4], eval_loss=evals, **more)


def _linear(loss: str, guess: FloatArray, goal: FloatArray) -> tuple[FloatArray, float]:
    """Return (gradient by the guess, mean loss)."""
    if loss == "logistic":
        share = 1 / (1 + np.exp(goal * guess))
        return -goal * share, float(-np.log(1 - share + 1e-9).mean())
    off = guess - goal
    if loss == "absolute":
        return np.sign(off), float(np.abs(off).mean())
    return off, float((off**2).mean() / 2)


def deep(known: Plan, kind: str, seed: int, factor: float) -> Curves:
    """Train a hidden layer with Adam or momentum on a bumpy function, or on classes of it."""
    data = np.random.default_rng(known.number)
    wide, hidden, few = (
        int(data.choice([2, 6])),
        int(data.choice([6, 32])),
        int(data.choice([80, 700])),
    )
    x = data.normal(size=(1_100, wide))
    bumps = np.sin(2 * x @ data.normal(size=(wide, 3))).sum(1)
    goal = bumps + known.noise * data.normal(size=1_100)
    goal = (goal > 0) * 1.0 if kind == "classes" else goal
    adam = data.random() < 0.5
    rng = np.random.default_rng(seed)
    parts = [rng.normal(size=(wide + 1, hidden)), rng.normal(size=hidden) / hidden**0.5]
    first, second, kept = [0.0, 0.0], [0.0, 0.0], [part.copy() for part in parts]
    x = np.concatenate([x, np.ones((1_100, 1))], axis=1)
    train, evals, score = [], [], []
    for step in range(1, known.steps + 1):
        rows = rng.integers(few, size=known.batch)
        act = np.maximum(x[rows] @ parts[0], 0)
        off, value = _deep(kind, act @ parts[1], goal[rows])
        down = off[:, None] * parts[1] * (act > 0)
        slopes = [x[rows].T @ down / known.batch, act.T @ off / known.batch]
        now = (0.02 if adam else 0.03) * known.rate * factor * known.at(step - 1)
        for i, slope in enumerate(slopes):
            first[i] = 0.9 * first[i] + (0.1 if adam else 1.0) * np.clip(slope, -5, 5)
            second[i] = 0.99 * second[i] + 0.01 * slope**2
            size = np.sqrt(second[i] / (1 - 0.99**step)) + 1e-8 if adam else 2.0
            parts[i] = parts[i] - now * first[i] / size
            kept[i] = known.average * kept[i] + (1 - known.average) * parts[i]
        train.append(value)
        if step % known.every == 0:
            guess = np.maximum(x[700:] @ kept[0], 0) @ kept[1]
            evals.append(_deep(kind, guess, goal[700:])[1])
            score.append(float(((guess > 0) == (goal[700:] > 0.5)).mean()))
    more = {"eval_accuracy": score} if kind == "classes" else {}
    return logged(known, train_loss=train[::4], eval_loss=evals, **more)


def _deep(kind: str, guess: FloatArray, goal: FloatArray) -> tuple[FloatArray, float]:
    if kind == "classes":
        share = 1 / (1 + np.exp(-np.clip(guess, -30, 30)))
        right = np.where(goal > 0.5, share, 1 - share)
        return share - goal, float(-np.log(right + 1e-9).mean())
    off = guess - goal
    return off, float((off**2).mean())


def words(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Learn which symbol follows which, by the last one alone."""
    data = np.random.default_rng(known.number)
    many = int(data.choice([8, 30]))
    chain = data.dirichlet(np.full(many, 0.1 + known.noise / 4), size=many).cumsum(1)
    rng = np.random.default_rng(seed)
    held = [data.integers(many, size=800)]
    held.append((chain[held[0]] > data.random((800, 1))).argmax(1))
    w, moment, train, evals = 0.1 * rng.normal(size=(many, many)), 0.0, [], []
    for step in range(1, known.steps + 1):
        state = rng.integers(many, size=known.batch)
        after = (chain[state] > rng.random((known.batch, 1))).argmax(1)
        share = _softmax(w[state])
        train.append(float(-np.log(share[np.arange(known.batch), after] + 1e-9).mean()))
        share[np.arange(known.batch), after] -= 1
        slope = np.zeros((many, many))
        np.add.at(slope, state, share / known.batch)
        moment = 0.9 * moment + slope
        w = w - 2 * known.rate * factor * known.at(step - 1) * moment
        if step % known.every == 0:
            share = _softmax(w[held[0]])
            evals.append(float(-np.log(share[np.arange(800), held[1]] + 1e-9).mean()))
    return logged(known, train_loss=train[::4], eval_loss=evals)


def _softmax(scores: FloatArray) -> FloatArray:
    share = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(share / share.sum(1, keepdims=True))


def tabular(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Learn a random chain of states by Q-learning; the return of episodes."""
    data = np.random.default_rng(known.number)
    states = int(data.choice([6, 12, 20]))
    gain = data.normal(size=states) * known.noise
    gain[-1] = 5.0
    slip = float(data.choice([0.05, 0.2]))
    rng = np.random.default_rng(seed)
    value, returns = np.zeros((states, 2)), []
    for episode in range(known.steps * 2):
        at, total = 0, 0.0
        for _ in range(25):
            greedy = rng.random() > max(0.08, 1 - episode / known.steps)
            act = int(value[at].argmax()) if greedy else int(rng.integers(2))
            move = 1 if (act == 1) != (rng.random() < slip) else -1
            new = min(max(at + move, 0), states - 1)
            total += gain[new] / 10
            goal = gain[new] / 10 + 0.95 * value[new].max()
            value[at, act] += 0.2 * known.rate * factor * (goal - value[at, act])
            at = new
        returns.append(total)
    return logged(known, reward=np.reshape(returns, (-1, 4)).mean(1).tolist())


def gradient(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Choose among arms by what is seen, by REINFORCE; the mean reward of a batch."""
    data = np.random.default_rng(known.number)
    arms, wide = int(data.choice([3, 10])), 6
    worth = data.normal(size=(wide, arms)) / 2
    rng = np.random.default_rng(seed)
    w, base, rewards = 0.05 * rng.normal(size=(wide, arms)), 0.0, []
    for step in range(known.steps):
        x = rng.normal(size=(known.batch + 8, wide))
        share = _softmax(x @ w)
        act = (share.cumsum(1) > rng.random((len(x), 1))).argmax(1)
        got = (x @ worth)[np.arange(len(x)), act] + known.noise * rng.normal(size=len(x))
        share[np.arange(len(x)), act] -= 1
        slope = x.T @ (share * (got - base)[:, None]) / len(x)
        w = w - known.rate * factor * known.at(step) * slope
        base = 0.9 * base + 0.1 * float(got.mean())
        rewards.append(float(got.mean()))
    return logged(known, reward=rewards)


def centres(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Move centres to points, by mini-batches; they end in one of several optima."""
    data = np.random.default_rng(known.number)
    many = int(data.choice([3, 8]))
    x = data.normal(size=(many, 3))[data.integers(many, size=1_200)] * 2
    x = x + known.noise * data.normal(size=x.shape)
    rng = np.random.default_rng(seed)
    at, evals = x[rng.choice(800, many, replace=False)].copy(), []
    for step in range(1, known.steps + 1):
        for point in x[rng.integers(800, size=4)]:
            near = int(((at - point) ** 2).sum(1).argmin())
            at[near] += min(0.2 * known.rate * factor * known.at(step - 1), 1) * (point - at[near])
        if step % known.every == 0:
            evals.append(float(((x[800:, None] - at) ** 2).sum(2).min(1).mean()))
    return logged(known, eval_loss=evals)


def ratings(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Factorise a matrix by single entries."""
    data = np.random.default_rng(known.number)
    left, right = data.normal(size=(40, 3)), data.normal(size=(50, 3))
    one, two = data.integers(40, size=3_000), data.integers(50, size=3_000)
    goal = (left[one] * right[two]).sum(1) + known.noise * data.normal(size=3_000)
    rng = np.random.default_rng(seed)
    u, v = 0.4 * rng.normal(size=(40, 4)), 0.4 * rng.normal(size=(50, 4))
    train, evals = [], []
    for step in range(1, known.steps + 1):
        rows = rng.integers(2_400, size=known.batch + 16)
        i, j = one[rows], two[rows]
        off = (u[i] * v[j]).sum(1) - goal[rows]
        slopes = off[:, None] * v[j], off[:, None] * u[i]
        now = 0.08 * known.rate * factor * known.at(step - 1)
        np.add.at(u, i, -now * np.clip(slopes[0], -3, 3))
        np.add.at(v, j, -now * np.clip(slopes[1], -3, 3))
        train.append(float((off**2).mean()))
        if step % known.every == 0:
            off = (u[one[2_400:]] * v[two[2_400:]]).sum(1) - goal[2_400:]
            evals.append(float(np.sqrt((off**2).mean())))
    return logged(known, train_loss=train[::4], eval_rmse=evals)


def contrast(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Embed two views of things so that they find each other; reciprocal rank."""
    data = np.random.default_rng(known.number)
    things = data.normal(size=(500, 10))
    views = [things @ data.normal(size=(10, 12)) / 3 + known.noise * data.normal(size=(500, 12))
             for _ in "ab"]  # fmt: skip
    rng = np.random.default_rng(seed)
    w = [0.3 * rng.normal(size=(12, 5)) for _ in "ab"]
    train, ranks = [], []
    size = known.batch + 4
    for step in range(1, known.steps // 2 + 1):
        rows = rng.choice(350, min(size, 48), replace=False)
        a, b = (x[rows] @ part for x, part in zip(views, w, strict=True))
        share = _softmax(a @ b.T)
        train.append(float(-np.log(np.diag(share) + 1e-9).mean()))
        off = (share - np.eye(len(rows))) / len(rows)
        now = 0.3 * known.rate * factor * known.at(2 * step - 2)
        w = [w[0] - now * np.clip(views[0][rows].T @ off @ b, -1, 1),
             w[1] - now * np.clip(views[1][rows].T @ off.T @ a, -1, 1)]  # fmt: skip
        if step % max(1, known.every // 2) == 0:
            scores = views[0][350:] @ w[0] @ (views[1][350:] @ w[1]).T
            ranks.append(float((1 / (1 + (scores > np.diag(scores)[:, None]).sum(1))).mean()))
    return logged(known, train_loss=train[::2], eval_mrr=ranks)


def sampler(known: Plan, _: str, seed: int, factor: float) -> Curves:
    """Sample a posterior by Langevin steps with an average: the end is chance that has memory."""
    data = np.random.default_rng(known.number)
    x = data.normal(size=(700, 8))
    y = x @ data.normal(size=8) + (0.2 + known.noise) * data.normal(size=700)
    rng, w, mean = np.random.default_rng(seed), np.zeros(8), np.zeros(8)
    evals = []
    for step in range(1, known.steps + 1):
        now = 0.03 * known.rate * factor
        rows = rng.integers(400, size=known.batch)
        w = w - now * x[rows].T @ (x[rows] @ w - y[rows]) / known.batch
        w = w + now**0.5 * 0.15 * known.noise * rng.normal(size=8)
        mean = known.average * mean + (1 - known.average) * w
        if step % known.every == 0:
            evals.append(float(np.sqrt(((x[400:] @ mean - y[400:]) ** 2).mean())))
    return logged(known, eval_rmse=evals)


MECHANISMS: tuple[tuple[Callable[[Plan, str, int, float], Curves], str, str], ...] = (
    (linear, "squares", "eval_loss"), (linear, "logistic", "eval_accuracy"),
    (linear, "absolute", "eval_loss"), (deep, "bumps", "eval_loss"),
    (deep, "classes", "eval_loss"), (deep, "classes", "eval_accuracy"), (words, "", "eval_loss"),
    (tabular, "", "reward"), (gradient, "", "reward"), (centres, "", "eval_loss"),
    (ratings, "", "eval_rmse"), (contrast, "", "eval_mrr"), (sampler, "", "eval_rmse"),
    (linear, "logistic", "train_loss"), (words, "", "train_loss"),
)  # fmt: skip


def families(first: int, many: int) -> dict[str, Family]:
    """Draw kinds of trainings, each mechanism in turn."""
    found = {}
    for number in range(first, first + many):
        train, kind, metric = MECHANISMS[number % len(MECHANISMS)]
        factors = (1.0, 0.15, 0.85, 0.4)
        name = f"{train.__name__} {kind} {metric} {number}"
        found[name] = Family(partial(train, plan(number), kind), metric, factors)
    return found
