"""Kinds of trainings written after last evaluations were weighed with their halves; asked once.

Twelve mechanisms that no other file has, and twenty-four kinds by numbers that were not drawn
before (generated.py). `FRESH_HARD` are single configurations of other noise than all before.
"""

import numpy as np
from generated import families
from scipy.signal import lfilter
from trainings import Family

from runlens.history import FloatArray

Curves = dict[str, FloatArray]


def _logged(digits: int = 5, **curves: list[float]) -> Curves:
    return {name: np.round(np.array(v, dtype=float), digits) for name, v in curves.items()}


def _sigmoid(value: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-np.clip(value, -30, 30))))


def recurrent(seed: int, rate: float) -> Curves:
    """Add marked numbers of a sequence by a small recurrent network, through time."""
    data = np.random.default_rng(81)
    x = data.random((700, 6))
    mark = (data.random((700, 6)) < 0.4) * 1.0
    goal = (x * mark).sum(1)
    rng = np.random.default_rng(seed)
    inside, into, out = 0.3 * rng.normal(size=(10, 10)), rng.normal(size=(2, 10)) / 2, np.zeros(10)

    def forward(rows: FloatArray) -> list[FloatArray]:
        states = [np.zeros((len(rows), 10))]
        for t in range(6):
            seen = np.stack([x[rows, t], mark[rows, t]], 1)
            states.append(np.tanh(states[-1] @ inside + seen @ into))
        return states

    losses, evals = [], []
    for step in range(1, 241):
        rows = rng.integers(500, size=24)
        states = forward(rows)
        off = states[-1] @ out - goal[rows]
        down, slope_in, slope_into = off[:, None] * out, 0.0 * inside, 0.0 * into
        slope_out = states[-1].T @ off / 24
        for t in reversed(range(6)):
            down = down * (1 - states[t + 1] ** 2)
            slope_in = slope_in + states[t].T @ down / 24
            slope_into = slope_into + np.stack([x[rows, t], mark[rows, t]]) @ down / 24
            down = down @ inside.T
        inside = inside - rate * np.clip(slope_in, -1, 1)
        into = into - rate * np.clip(slope_into, -1, 1)
        out = out - rate * np.clip(slope_out, -1, 1)
        losses.append(float((off**2).mean()))
        if step % 15 == 0:
            evals.append(float(((forward(np.arange(500, 700))[-1] @ out - goal[500:]) ** 2).mean()))
    return _logged(train_loss=losses[::3], eval_loss=evals)


def counts(seed: int, rate: float) -> Curves:
    """Predict counts by a Poisson regression with Nesterov's momentum; held-out deviance."""
    data = np.random.default_rng(82)
    x = data.normal(size=(1_000, 12)) / 3
    y = data.poisson(np.exp(1 + x @ data.normal(size=12)))
    rng = np.random.default_rng(seed)
    w, speed, bias, losses, evals = 0.1 * rng.normal(size=12), np.zeros(12), 0.0, [], []
    for step in range(1, 361):
        rows = rng.integers(700, size=20)
        mean = np.exp(np.clip(x[rows] @ (w + 0.8 * speed) + bias, -6, 6))
        speed = 0.8 * speed - rate * x[rows].T @ (mean - y[rows]) / 20
        w, bias = w + speed, bias - rate * float((mean - y[rows]).mean())
        losses.append(float((mean - y[rows] * np.log(mean)).mean()))
        if step % 12 == 0:
            score = np.clip(x[700:] @ w + bias, -6, 6)
            evals.append(float((np.exp(score) - y[700:] * score).mean()))
    return _logged(train_loss=losses[::4], eval_loss=evals)


def preferences(seed: int, rate: float) -> Curves:
    """Rank things by who beat whom (Bradley and Terry), one match a time; held-out accuracy."""
    data = np.random.default_rng(83)
    worth = data.normal(size=60)
    one, two = data.integers(60, size=3_000), data.integers(60, size=3_000)
    won = (worth[one] - worth[two] + data.logistic(size=3_000) * 0.7 > 0) * 1.0
    rng = np.random.default_rng(seed)
    score, scores = rng.normal(size=60), []
    for step in range(1, 1_201):
        i = rng.integers(2_200)
        pull = rate * (won[i] - float(_sigmoid(score[one[i]] - score[two[i]])))
        score[one[i]] += pull
        score[two[i]] -= pull
        if step % 60 == 0:
            right = (score[one[2_200:]] > score[two[2_200:]]) == (won[2_200:] > 0)
            scores.append(float(right.mean()))
    return _logged(eval_accuracy=scores)


def kernels(seed: int, rate: float) -> Curves:
    """Fit a bumpy plane by kernels at points of its own, with AdaGrad."""
    data = np.random.default_rng(84)
    x = data.uniform(-2, 2, size=(1_000, 2))
    y = np.sin(3 * x[:, 0]) * np.cos(2 * x[:, 1]) + 0.3 * data.normal(size=1_000)
    rng = np.random.default_rng(seed)
    at = rng.uniform(-2, 2, size=(50, 2))
    h = np.exp(-2 * ((x[:, None] - at) ** 2).sum(2))
    w, squares, losses, evals = np.zeros(50), np.full(50, 1e-3), [], []
    for step in range(1, 401):
        rows = rng.integers(700, size=8)
        off = h[rows] @ w - y[rows]
        slope = h[rows].T @ off / 8
        squares += slope**2
        w -= rate * slope / np.sqrt(squares)
        losses.append(float((off**2).mean()))
        if step % 50 == 0:
            evals.append(float(((h[700:] @ w - y[700:]) ** 2).mean()))
    return _logged(train_loss=losses[::4], eval_loss=evals)


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
    return _logged(reward=rewards)


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
    return _logged(reward=np.reshape(rewards, (-1, 40)).mean(1).tolist())


def machine(seed: int, rate: float) -> Curves:
    """Learn binary patterns by a restricted Boltzmann machine, by one step of sampling."""
    data = np.random.default_rng(86)
    kinds = data.random((6, 20)) < 0.5
    x = (kinds[data.integers(6, size=900)] ^ (data.random((900, 20)) < 0.08)) * 1.0
    rng = np.random.default_rng(seed)
    w, a, b, evals = 0.1 * rng.normal(size=(20, 12)), np.zeros(20), np.zeros(12), []
    for step in range(1, 301):
        seen = x[rng.integers(600, size=16)]
        hidden = _sigmoid(seen @ w + b)
        again = _sigmoid((hidden > rng.random(hidden.shape)) @ w.T + a)
        later = _sigmoid(again @ w + b)
        w += rate * (seen.T @ hidden - again.T @ later) / 16
        a += rate * (seen - again).mean(0)
        b += rate * (hidden - later).mean(0)
        if step % 10 == 0:
            back = _sigmoid(_sigmoid(x[600:] @ w + b) @ w.T + a)
            evals.append(float(((back - x[600:]) ** 2).mean()))
    return _logged(eval_recon=evals)


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
    return _logged(reward=rewards)


def graph(seed: int, rate: float) -> Curves:
    """Classify nodes of a graph by the means of their neighbours; dropped edges; accuracy."""
    data = np.random.default_rng(88)
    kind = data.integers(4, size=240)
    edge = data.random((240, 240)) < np.where(kind[:, None] == kind, 0.07, 0.025)
    edge = (edge | edge.T) * 1.0
    x = 0.6 * np.eye(4)[kind] @ data.normal(size=(4, 15)) + data.normal(size=(240, 15))
    rng = np.random.default_rng(seed)
    w, losses, scores = 0.1 * rng.normal(size=(15, 4)), [], []
    for step in range(1, 201):
        kept = edge * (rng.random(edge.shape) < 0.5) + np.eye(240)
        h = kept @ x / kept.sum(1, keepdims=True)
        share = np.exp(h[:100] @ w)
        share /= share.sum(1, keepdims=True)
        losses.append(float(-np.log(share[np.arange(100), kind[:100]] + 1e-9).mean()))
        w -= rate * h[:100].T @ (share - np.eye(4)[kind[:100]]) / 100
        if step % 8 == 0:
            full = edge + np.eye(240)
            scores.append(float(((full @ x @ w)[100:].argmax(1) == kind[100:]).mean()))
    return _logged(train_loss=losses, eval_accuracy=scores)


def components(seed: int, rate: float) -> Curves:
    """Follow the three widest directions of a stream by Oja's rule; what they leave over."""
    data = np.random.default_rng(89)
    x = data.normal(size=(1_000, 12)) * np.linspace(2, 0.4, 12)
    rng = np.random.default_rng(seed)
    w, evals = np.linalg.qr(rng.normal(size=(12, 3)))[0], []
    for step in range(1, 321):
        seen = x[rng.integers(700, size=4)]
        w = np.linalg.qr(w + rate * seen.T @ (seen @ w) / 4)[0]
        if step % 16 == 0:
            evals.append(float(((x[700:] - x[700:] @ w @ w.T) ** 2).mean()))
    return _logged(eval_recon=evals)


def dropped(seed: int, rate: float) -> Curves:
    """Train a hidden layer with dropped units on wrong labels here and there; two metrics."""
    data = np.random.default_rng(90)
    x = data.normal(size=(1_000, 8))
    y = (x[:, 0] * x[:, 1] + np.abs(x[:, 2]) > 0.7) * 1.0
    wrong = np.where(data.random(1_000) < 0.1, 1 - y, y)
    rng = np.random.default_rng(seed)
    one, two, bias = 0.5 * rng.normal(size=(8, 30)), 0.2 * rng.normal(size=30), np.zeros(30)
    losses, evals, scores = [], [], []
    for step in range(1, 361):
        rows = rng.integers(600, size=32)
        kept = (rng.random(30) < 0.7) / 0.7
        act = np.maximum(x[rows] @ one + bias, 0) * kept
        share = _sigmoid(act @ two)
        off = (share - wrong[rows]) / 32
        down = off[:, None] * two * (act > 0) * kept
        now = rate * (1 - step / 361)
        one, bias, two = (
            one - now * x[rows].T @ down,
            bias - now * down.sum(0),
            two - now * act.T @ off,
        )
        right = np.where(wrong[rows] > 0.5, share, 1 - share)
        losses.append(float(-np.log(right + 1e-9).mean()))
        if step % 24 == 0:
            share = _sigmoid(np.maximum(x[600:] @ one + bias, 0) @ two)
            evals.append(float(-np.log(np.where(y[600:] > 0.5, share, 1 - share) + 1e-9).mean()))
            scores.append(float(((share > 0.5) == (y[600:] > 0.5)).mean()))
    return _logged(4, train_loss=losses[::4], eval_loss=evals, eval_accuracy=scores)


def filters(seed: int, rate: float) -> Curves:
    """Cancel an echo by normalised least squares as it drifts; the mean error of 25 samples."""
    rng, data = np.random.default_rng(seed), np.random.default_rng(91)
    echo = data.normal(size=16) * 0.8 ** np.arange(16)
    w, past, losses = np.zeros(16), np.zeros(16), []
    for _ in range(3_000):
        past = np.concatenate([[rng.normal()], past[:-1]])
        off = float((echo - w) @ past) + 0.2 * rng.normal()
        w += rate * off * past / (1 + past @ past)
        losses.append(off * off)
    return _logged(train_loss=np.reshape(losses, (-1, 25)).mean(1).tolist())


def ringing(seed: int, factor: float) -> Curves:
    """Draw a loss whose noise swings and stays: AR(2) with a memory of .985, 2 % of the level."""
    noise = lfilter([1], [1, -1.93, 0.97], np.random.default_rng(seed).normal(size=900))[300:]
    level = (2.2 + 2 * np.exp(-np.arange(600) / 90)) * factor
    return _logged(train_loss=(level * (1 + 0.02 * noise / noise.std())).tolist())


def twice_averaged(seed: int, factor: float) -> Curves:
    """Draw a loss of which an average of averages alone is logged, decay .97 both times."""
    noise = np.random.default_rng(seed).normal(size=1_100)
    for _ in "12":
        noise = lfilter([0.03], [1, -0.97], noise)
    level = (1.4 + 2 * np.exp(-np.arange(800) / 110)) * factor
    return _logged(train_loss=(level * (1 + 0.5 * noise[300:])).tolist())


def strolling(seed: int, factor: float) -> Curves:
    """Draw evaluations about which each seed strolls: AR(.9) of 1 %, and 0.3 % of jitter."""
    rng = np.random.default_rng(seed)
    stroll = lfilter([(1 - 0.81) ** 0.5], [1, -0.9], rng.normal(size=90))[50:]
    level = (1.7 + 1.5 * np.exp(-np.arange(40) / 6)) * factor
    return _logged(eval_loss=(level * (1 + 0.01 * stroll + 0.003 * rng.normal(size=40))).tolist())


def _of(train: object, metric: str, base: float) -> Family:
    values = (base, 0.12 * base, 0.85 * base, 0.4 * base)
    return Family(train, metric, values)  # type: ignore[arg-type]


FRESH = {
    "recurrent": _of(recurrent, "eval_loss", 0.1),
    "counts": _of(counts, "eval_loss", 0.02),
    "preferences": _of(preferences, "eval_accuracy", 0.4),
    "kernels": _of(kernels, "eval_loss", 0.3),
    "regulator": _of(regulator, "reward", 0.1),
    "hedge": _of(hedge, "reward", 0.1),
    "machine": _of(machine, "eval_recon", 0.1),
    "genes": _of(genes, "reward", 0.03),
    "graph": _of(graph, "eval_accuracy", 0.5),
    "components": _of(components, "eval_recon", 0.05),
    "dropped": _of(dropped, "eval_accuracy", 1.0),
    "filters": _of(filters, "train_loss", 0.5),
    **families(3_000, 24),
}
FRESH_HARD = {
    "AR(2) that swings": Family(ringing, "train_loss", (1.0,)),
    "average of averages": Family(twice_averaged, "train_loss", (1.0,)),
    "evaluations that stroll": Family(strolling, "eval_loss", (1.0,)),
}
