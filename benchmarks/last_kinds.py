"""Kinds of trainings that were written after everything was fixed, and asked once, at the end.

Eight mechanisms that no other file has, and thirty kinds drawn by numbers that were not drawn
before (generated.py).
"""

import numpy as np
from generated import families
from trainings import Family

from runlens.history import FloatArray

Curves = dict[str, FloatArray]


def _logged(digits: int = 5, **curves: list[float]) -> Curves:
    return {name: np.round(np.array(v, dtype=float), digits) for name, v in curves.items()}


def reservoir(seed: int, rate: float) -> Curves:
    """Predict a chaotic series by a random reservoir of its own and a trained readout."""
    data = np.random.default_rng(71)
    series = [0.4]
    for _ in range(1_400):
        series.append(3.8 * series[-1] * (1 - series[-1]))
    x = np.array(series) + 0.05 * data.normal(size=1_401)
    rng = np.random.default_rng(seed)
    inside, into = rng.normal(size=(40, 40)) * 0.12, rng.normal(size=40)
    state, states = np.zeros(40), []
    for value in x[:-1]:
        state = np.tanh(inside @ state + into * value)
        states.append(state)
    h, w, losses, evals = np.array(states), np.zeros(40), [], []
    for step in range(1, 301):
        rows = rng.integers(50, 900, size=16)
        off = h[rows] @ w - x[rows + 1]
        w -= rate * (1 - step / 301) * h[rows].T @ off / 16
        losses.append(float((off**2).mean()))
        if step % 12 == 0:
            evals.append(float(((h[900:] @ w - x[901:]) ** 2).mean()))
    return _logged(train_loss=losses[::3], eval_loss=evals)


def dictionary(seed: int, rate: float) -> Curves:
    """Learn atoms that make up sparse signals, each coded by its two nearest atoms."""
    data = np.random.default_rng(72)
    atoms = data.normal(size=(10, 14))
    x = data.normal(size=(900, 2, 1)) * atoms[data.integers(10, size=(900, 2))]
    x = x.sum(1) + 0.2 * data.normal(size=(900, 14))
    rng = np.random.default_rng(seed)
    d, evals = rng.normal(size=(10, 14)), []

    def code(part: FloatArray) -> tuple[FloatArray, FloatArray]:
        unit = d / np.linalg.norm(d, axis=1, keepdims=True)
        score = part @ unit.T
        kept = np.where(np.abs(score) >= np.sort(np.abs(score), axis=1)[:, -2:-1], score, 0)
        return kept, part - kept @ unit

    for step in range(1, 201):
        part = x[rng.integers(600, size=24)]
        kept, left = code(part)
        d += rate * kept.T @ left / 24
        if step % 10 == 0:
            evals.append(float((code(x[600:])[1] ** 2).mean()))
    return _logged(eval_loss=evals)


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
    return _logged(reward=rewards)


def duel(seed: int, rate: float) -> Curves:
    """Match two moments by a generator against a critic; how far the moments end apart."""
    rng = np.random.default_rng(seed)
    made, critic, evals = np.array([0.0, 0.5]), np.zeros(2), []
    for step in range(1, 401):
        real = 2 + 0.7 * rng.normal(size=48)
        noise = rng.normal(size=48)
        fake = made[0] + made[1] * noise
        critic += 0.1 * np.array([real.mean() - fake.mean(), (real**2).mean() - (fake**2).mean()])
        critic *= 0.95
        slope = critic[0] + 2 * critic[1] * fake
        made += rate * np.array([slope.mean(), (slope * noise).mean()])
        made = np.clip(made, -6, 6)
        if step % 16 == 0:
            evals.append(abs(made[0] - 2) + abs(abs(made[1]) - 0.7))
    return _logged(eval_mae=evals)


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
    return _logged(reward=np.reshape(returns, (-1, 5)).mean(1).tolist())


def quantiles(seed: int, rate: float) -> Curves:
    """Predict the nineties of skewed values from ten numbers by the pinball loss."""
    data = np.random.default_rng(74)
    x = data.normal(size=(1_300, 10))
    y = x @ data.normal(size=10) + np.exp(0.8 * data.normal(size=1_300)) * (1 + (x[:, 0] > 0))
    rng = np.random.default_rng(seed)
    w, bias, losses, evals = 0.2 * rng.normal(size=10), 0.0, [], []
    for step in range(480):
        rows = rng.integers(900, size=24)
        off = y[rows] - x[rows] @ w - bias
        pull = np.where(off > 0, 0.9, -0.1)
        now = rate * (1.0 if step < 240 else 0.1)
        w, bias = w + now * x[rows].T @ pull / 24, bias + now * float(pull.mean())
        losses.append(float((pull * off).mean()))
        if step % 32 == 31:
            off = y[900:] - x[900:] @ w - bias
            evals.append(float((np.where(off > 0, 0.9, -0.1) * off).mean()))
    return _logged(4, train_loss=losses[::4], eval_loss=evals)


def votes(seed: int, rate: float) -> Curves:
    """Let random perceptrons vote, the weights learned by what each got wrong; accuracy."""
    data = np.random.default_rng(75)
    x = data.normal(size=(1_500, 8))
    y = np.sign(x[:, 0] * x[:, 1] + x[:, 2] + 0.6 * data.normal(size=1_500))
    rng = np.random.default_rng(seed)
    said = np.sign(x @ rng.normal(size=(8, 120)) + rng.normal(size=120))
    share, losses, scores = np.zeros(120), [], []
    for step in range(1, 241):
        rows = rng.integers(1_000, size=32)
        margin = y[rows] * (said[rows] @ share)
        pull = y[rows] / (1 + np.exp(np.clip(margin, -30, 30)))
        share += rate * (said[rows].T @ pull / 32 - 0.002 * share)
        losses.append(float(np.log1p(np.exp(-np.clip(margin, -30, 30))).mean()))
        if step % 10 == 0:
            scores.append(float((np.sign(said[1_000:] @ share) == y[1_000:]).mean()))
    return _logged(train_loss=losses[::3], eval_accuracy=scores)


def diffusion(seed: int, rate: float) -> Curves:
    """Learn by cubic features which noise was added to points of a ring; Adam, decayed."""
    data = np.random.default_rng(76)
    angle = data.uniform(0, 6.3, 1_200)
    points = np.stack([np.cos(angle), np.sin(angle)], 1)

    def features(at: FloatArray) -> FloatArray:
        a, b = at.T
        return np.stack([a, b, a * a, a * b, b * b, a**3, a * a * b, a * b * b, b**3], 1) / 2

    rng = np.random.default_rng(seed)
    held = data.normal(size=(400, 2))
    w, first, second, losses, evals = 0.1 * rng.normal(size=(9, 2)), 0.0, 0.0, [], []
    for step in range(1, 361):
        noise = rng.normal(size=(32, 2))
        seen = features(points[rng.integers(800, size=32)] + 0.5 * noise)
        off = seen @ w - noise
        slope = seen.T @ off / 32
        first, second = 0.9 * first + 0.1 * slope, 0.99 * second + 0.01 * slope**2
        size = np.sqrt(second / (1 - 0.99**step)) + 1e-8
        w -= rate * (1 - step / 361) * first / (1 - 0.9**step) / size
        losses.append(float((off**2).mean()))
        if step % 18 == 0:
            evals.append(float(((features(points[800:] + 0.5 * held) @ w - held) ** 2).mean()))
    return _logged(train_loss=losses[::4], eval_loss=evals)


LAST = {
    "reservoir": Family(reservoir, "eval_loss", (0.1, 0.01, 0.085, 0.03)),
    "dictionary": Family(dictionary, "eval_loss", (0.2, 0.02, 0.17, 0.08)),
    "annealing": Family(annealing, "reward", (0.05, 0.005, 0.04, 0.015)),
    "duel": Family(duel, "eval_mae", (0.05, 0.005, 0.04, 0.02)),
    "traces": Family(traces, "reward", (0.2, 0.01, 0.17, 0.05)),
    "quantiles": Family(quantiles, "eval_loss", (0.2, 0.02, 0.17, 0.08)),
    "votes": Family(votes, "eval_accuracy", (0.05, 0.002, 0.04, 0.015)),
    "diffusion": Family(diffusion, "eval_loss", (0.02, 0.002, 0.017, 0.006)),
    **families(2_000, 30),
}
