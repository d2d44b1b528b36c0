"""Players, searches and controllers: the reward of training."""

import numpy as np

from mechanisms.common import Curves, logged, softmax
from runlens.history import FloatArray


def evolution(seed: int, rate: float) -> Curves:
    """Maximise a bumpy function of eight numbers by evolution strategies; the mean reward."""
    rng = np.random.default_rng(seed)
    at = np.full(8, 2.0) + 0.3 * rng.normal(size=8)
    rewards = []
    for _ in range(200):
        noise = rng.normal(size=(24, 8))
        tried = at + 0.3 * noise
        reward = (
            -(tried**2).sum(1) / 8 + 0.3 * np.cos(3 * tried).mean(1) + 0.2 * rng.normal(size=24)
        )
        rewards.append(float(reward.mean()))
        at += rate * ((reward - reward.mean())[:, None] * noise).mean(0) / 0.3
    return logged(reward=rewards)


def cliff(seed: int, rate: float) -> Curves:
    """Walk along a cliff by Q-learning; the return of each tenth episode's mean."""
    rng = np.random.default_rng(seed)
    value = np.zeros((4, 8, 4))
    moves = ((-1, 0), (1, 0), (0, -1), (0, 1))
    returns = []
    for _ in range(600):
        row, column, total = 3, 0, 0.0
        for _ in range(60):
            chosen = (
                int(rng.integers(4)) if rng.random() < 0.1 else int(value[row, column].argmax())
            )
            new = min(max(row + moves[chosen][0], 0), 3), min(max(column + moves[chosen][1], 0), 7)
            fell, done = new[0] == 3 and 0 < new[1] < 7, new == (3, 7)
            gain = -20.0 if fell else -1.0
            after = (3, 0) if fell else new
            goal = gain + (0.0 if done else value[after].max())
            value[row, column, chosen] += rate * (goal - value[row, column, chosen])
            (row, column), total = after, total + gain
            if done:
                break
        returns.append(total)
    return logged(reward=np.reshape(returns, (-1, 4)).mean(1))


def annealing(seed: int, rate: float) -> Curves:
    """Flip bits against a random energy at a falling temperature; the mean reward of a sweep."""
    data = np.random.default_rng(73)
    pull = data.normal(size=(40, 40)) / 40**0.5
    pull = pull + pull.T
    rng = np.random.default_rng(seed)
    spin, rewards = rng.choice((-1.0, 1.0), size=40), []
    for sweep in range(150):
        heat, total = 2.0 * float(np.exp(-rate * sweep)) + 0.15, 0.0
        for i in rng.integers(40, size=40):
            gain = -2 * spin[i] * float(pull[i] @ spin)
            if rng.random() < np.exp(min(gain / heat, 0.0)):
                spin[i] = -spin[i]
            total += float(spin @ pull @ spin) / 80
        rewards.append(total / 40)
    return logged(reward=rewards)


def traces(seed: int, rate: float) -> Curves:
    """Cross a field with wind by SARSA with traces; the return of five episodes."""
    rng = np.random.default_rng(seed)
    value, returns = np.zeros((7, 7, 4)), []
    moves = ((-1, 0), (1, 0), (0, -1), (0, 1))

    def choose(at: tuple[int, int]) -> int:
        if rng.random() < 0.1:
            return int(rng.integers(4))
        return int((value[at] + 1e-6 * rng.random(4)).argmax())

    for _ in range(500):
        trace, at, total = np.zeros_like(value), (3, 0), 0.0
        act = choose(at)
        for _ in range(40):
            wind = int(rng.random() < 0.3)
            row = min(max(at[0] + moves[act][0] - wind, 0), 6)
            new = (row, min(max(at[1] + moves[act][1], 0), 6))
            done = new == (3, 6)
            after = choose(new)
            trace *= 0.8
            trace[(*at, act)] = 1.0
            goal = -1.0 + (0.0 if done else float(value[(*new, after)]))
            value += rate * (goal - value[(*at, act)]) * trace
            at, act, total = new, after, total - 1
            if done:
                break
        returns.append(total)
    return logged(reward=np.reshape(returns, (-1, 5)).mean(1).tolist())


def regulator(seed: int, rate: float) -> Curves:
    """Learn the gain of a controller of a shaky cart from pairs of tried gains; mean reward."""
    rng = np.random.default_rng(seed)
    gain, rewards = np.array([0.2, 0.2]) + 0.1 * rng.normal(size=2), []

    def play(known: FloatArray) -> float:
        state, total = rng.normal(size=2), 0.0
        for _ in range(20):
            push = -float(np.clip(known @ state, -3, 3))
            state = np.array([state[0] + 0.2 * state[1], state[1] + 0.2 * push])
            state = state + 0.1 * rng.normal(size=2)
            total -= float(state @ state) + 0.1 * push * push
        return max(total, -200.0) / 20

    for _ in range(150):
        tried = rng.choice((-1.0, 1.0), size=2)
        up, down = play(gain + 0.1 * tried), play(gain - 0.1 * tried)
        gain = np.clip(gain + rate * np.clip(up - down, -1, 1) / 0.2 * tried, -5, 5)
        rewards.append((up + down) / 2)
    return logged(reward=rewards)


def hedge(seed: int, rate: float) -> Curves:
    """Play against slowly changing arms by exponential weights; the mean reward of 40 rounds."""
    rng, data = np.random.default_rng(seed), np.random.default_rng(85)
    phase, log_weight, rewards = data.uniform(0, 6, size=8), np.zeros(8), []
    for round_ in range(4_000):
        share = np.exp(log_weight - log_weight.max())
        share = 0.95 * share / share.sum() + 0.05 / 8
        arm = int((share.cumsum() > rng.random()).argmax())
        got = float(rng.random() < 0.5 + 0.4 * np.sin(phase[arm] + round_ / 900))
        log_weight[arm] += rate * got / share[arm] / 8
        rewards.append(got)
    return logged(reward=np.reshape(rewards, (-1, 40)).mean(1).tolist())


def genes(seed: int, rate: float) -> Curves:
    """Breed bit strings towards a noisy goal with mutations; the mean reward of a generation."""
    rng, data = np.random.default_rng(seed), np.random.default_rng(87)
    worth = data.normal(size=40)
    alive, rewards = rng.random((30, 40)) < 0.5, []
    for _ in range(120):
        fit = alive @ worth + rng.normal(size=30)
        rewards.append(float(fit.mean()))
        parents = alive[np.argsort(fit)[-12:]]
        one, two = parents[rng.integers(12, size=30)], parents[rng.integers(12, size=30)]
        alive = np.where(rng.random((30, 40)) < 0.5, one, two) ^ (rng.random((30, 40)) < rate)
    return logged(reward=rewards)


def groups_of_answers(seed: int, rate: float) -> Curves:
    """Draw groups of answers to 30 questions, each weighed against its group; clipped steps."""
    data = np.random.default_rng(111)
    worth = data.random((30, 6)) ** 2
    rng = np.random.default_rng(seed)
    w, rewards = 0.3 * rng.normal(size=(30, 6)), []
    for _ in range(160):
        asked = rng.integers(30, size=8)
        old = softmax(w[asked])
        act = (old.cumsum(1)[:, None, :] > rng.random((8, 6, 1))).argmax(2)
        got = (np.take_along_axis(worth[asked], act, 1) > rng.random((8, 6))) * 1.0
        gain = (got - got.mean(1, keepdims=True)) / (got.std(1, keepdims=True) + 0.1)
        for _ in range(2):
            new = softmax(w[asked])
            ratio = np.take_along_axis(new / old, act, 1)
            free = np.where(gain > 0, ratio < 1.2, ratio > 0.8) * ratio * gain / 6
            slope = np.zeros((8, 6))
            np.add.at(slope, (np.arange(8)[:, None], act), free)
            np.add.at(w, asked, rate * (slope - free.sum(1, keepdims=True) * new))
        rewards.append(float(got.mean()))
    return logged(reward=rewards)


def matches(seed: int, rate: float) -> Curves:
    """Learn to take the last of 13 sticks against a careless player, by afterstates; wins."""
    rng = np.random.default_rng(seed)
    value, wins = 0.5 + 0.1 * rng.normal(size=14), []
    value[0] = 1.0
    for _ in range(1_500):
        left, before, won = 13, -1, 0.0
        while left > 0:
            greedy = rng.random() > 0.1
            after = [left - take for take in range(1, min(3, left) + 1)]
            new = max(after, key=lambda one: value[one]) if greedy else int(rng.choice(after))
            if before >= 0:
                value[before] += rate * (value[new] - value[before])
            before, left, won = new, new, 1.0
            if left > 0:
                left, won = max(left - int(rng.integers(1, 4)), 0), 0.0
        value[before] += rate * (won - value[before])
        wins.append(won)
    return logged(reward=np.reshape(wins, (-1, 15)).mean(1).tolist())
